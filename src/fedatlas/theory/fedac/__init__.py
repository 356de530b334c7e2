"""The theorems of Yuan & Ma (2020), for strongly convex (Appendices B to D) and convex objectives (E), by name."""

from math import e, exp, log, sqrt
from typing import Any, ClassVar

from fedatlas.theory.fedac.theorem import FedAcConstants, FedAcTheorem, over, term


class B1(FedAcTheorem):
    """Theorem B.1, eq. B.2 to B.4: FedAc-I under Assumption 1.

    It bounds the decentralised potential Psi_T of eq. B.1, which is at least E F(ag) - F*.
    """

    name, short, algorithms = "B.1", "3.1(a)", ("fedac-1",)
    assumptions = "mu > 0, Assumption 1"

    def _logs(self, c: FedAcConstants, T: int) -> tuple[float, ...]:
        """Return Psi_0 and the arguments of the two logarithms."""
        psi, variance = c.gap + c.mu / 2 * c.D0**2, self.sigma(c) ** 2
        noise, drift = c.mu * c.M * T * psi, c.mu**2 * T**3 * psi / (c.L * c.K**2)
        return psi, over(noise, variance), over(drift, variance)

    def step_size(self, c: FedAcConstants, T: int) -> float:
        _, noise, drift = self._logs(c, T)
        return min(1 / c.L, c.K / (c.mu * T**2) * log(e + min(noise, drift)) ** 2)

    def terms(self, c: FedAcConstants, T: int) -> dict[str, float]:
        psi, noise, drift = self._logs(c, T)
        variance = self.sigma(c) ** 2
        return {
            "initial": min(exp(-c.mu * T / c.L), exp(-sqrt(c.mu / (c.L * c.K)) * T)) * psi,
            "noise": term(2 * variance / (c.mu * c.M * T), 2, e, noise),
            "drift": term(400 * c.L * c.K**2 * variance / (c.mu**2 * T**3), 4, e, drift),
        }


class C13(FedAcTheorem):
    """Theorem C.13, eq. C.143 to C.145: FedAc-II under Assumption 1.

    It bounds the centralised potential Phi_T of eq. C.1. The minimum in eq. C.143 is printed with a plus between its
    two members; it is read as a comma, as in eq. B.2, E.7 and in what the proof needs.
    """

    name, short, algorithms = "C.13", "3.1(b)", ("fedac-2",)
    assumptions = "mu > 0, Assumption 1"

    def _logs(self, c: FedAcConstants, T: int) -> tuple[float, ...]:
        """Return Phi_0 and the arguments of the two logarithms."""
        phi, variance = c.gap + c.mu / 6 * c.D0**2, self.sigma(c) ** 2
        noise, drift = c.mu * c.M * T * phi, c.mu**3 * T**4 * phi / (c.L**2 * c.K**3)
        return phi, over(noise, variance), over(drift, variance)

    def step_size(self, c: FedAcConstants, T: int) -> float:
        _, noise, drift = self._logs(c, T)
        return min(1 / c.L, 9 * c.K / (c.mu * T**2) * log(e + min(noise, drift)) ** 2)

    def terms(self, c: FedAcConstants, T: int) -> dict[str, float]:
        phi, noise, drift = self._logs(c, T)
        variance = self.sigma(c) ** 2
        return {
            "initial": min(exp(-c.mu * T / (3 * c.L)), exp(-sqrt(c.mu / (c.L * c.K)) * T / 3)) * phi,
            "noise": term(4 * variance / (c.mu * c.M * T), 1, e, noise),
            "drift": term(8101 * c.L**2 * c.K**3 * variance / (c.mu**3 * T**4), 4, e, drift),
        }


class C1(FedAcTheorem):
    """Theorem C.1, eq. C.2 to C.4: FedAc-II under Assumption 2.

    It bounds the centralised potential Phi_T of eq. C.1. In the minimum of eq. C.2 a plus stands between the first two
    members; it is read as a comma, as in eq. E.11 and in what the proof's eq. C.20 and C.21 need.
    """

    name, short, algorithms = "C.1", "3.3", ("fedac-2",)
    assumptions, fourth = "mu > 0, Assumption 2", True

    def _logs(self, c: FedAcConstants, T: int) -> tuple[float, ...]:
        """Return Phi_0 and the arguments of the three logarithms."""
        phi, variance = c.gap + c.mu / 6 * c.D0**2, self.sigma(c) ** 2
        noise, drift = c.mu * c.M * T * phi, c.mu**2 * c.M * T**3 * phi / (c.L * c.K**2)
        curvature = over(c.mu**5 * T**8 * phi, c.Q**2 * c.K**6 * variance**2)
        return phi, over(noise, variance), over(drift, variance), curvature

    def step_size(self, c: FedAcConstants, T: int) -> float:
        _, *arguments = self._logs(c, T)
        return min(1 / c.L, 9 * c.K / (c.mu * T**2) * log(e + min(arguments)) ** 2)

    def terms(self, c: FedAcConstants, T: int) -> dict[str, float]:
        phi, noise, drift, curvature = self._logs(c, T)
        variance = self.sigma(c) ** 2
        return {
            "initial": min(exp(-c.mu * T / (3 * c.L)), exp(-sqrt(c.mu / (c.L * c.K)) * T / 3)) * phi,
            "noise": term(4 * variance / (c.mu * c.M * T), 1, e, noise),
            "drift": term(55 * c.L * c.K**2 * variance / (c.mu**2 * c.M * T**3), 3, e, drift),
            "curvature": term(e**18 * c.Q**2 * c.K**6 * variance**2 / (c.mu**5 * T**8), 8, e, curvature),
        }


class D1(FedAcTheorem):
    """Theorem D.1, eq. D.1 to D.3: FedAvg under Assumption 2, at the weighted mean of all iterates."""

    name, short, algorithms = "D.1", "3.4", ("fedavg-averaged",)
    assumptions, fourth, averaged = "mu > 0, Assumption 2", True, True

    def _logs(self, c: FedAcConstants, T: int) -> tuple[float, ...]:
        """Return the arguments of the two logarithms."""
        variance = self.sigma(c) ** 2
        noise = over(c.mu**2 * c.M * T**2 * c.D0**2, variance)
        return noise, over(c.mu**6 * T**5 * c.D0**2, c.Q**2 * c.K**2 * variance**2)

    def step_size(self, c: FedAcConstants, T: int) -> float:
        return min(1 / (4 * c.L), 2 / (c.mu * T) * log(e + min(self._logs(c, T))))

    def terms(self, c: FedAcConstants, T: int) -> dict[str, float]:
        noise, curvature = self._logs(c, T)
        variance = self.sigma(c) ** 2
        return {
            "initial": exp(-c.mu * T / (8 * c.L)) * 4 * c.L * c.D0**2,
            "noise": term(3 * variance / (c.mu * c.M * T), 1, e, noise),
            "curvature": term(3073 * c.Q**2 * c.K**2 * variance**2 / (c.mu**5 * T**4), 4, e, curvature),
        }


class ConvexFedAc(FedAcTheorem):
    """A theorem on FedAc for convex objectives, strongly or not (Appendix E).

    The algorithms run on F + lambda/2 |w - w0|^2 (eq. E.1); the bounds are on F itself.
    """

    short, algorithms, convex = "Table 2", ("fedac-convex",), True
    variant: ClassVar[int]  # of FedAc: I or II

    def choices(self, c: FedAcConstants, rounds: int) -> dict[str, Any]:
        T = c.K * rounds
        return {"lr": self.step_size(c, T), "lam": self.augmentation(c, T), "variant": self.variant}


class E1(ConvexFedAc):
    """Theorem E.1, eq. E.2 to E.5: FedAc-I under Assumption 1, T >= 24."""

    name, variant, assumptions, least_steps = "E.1", 1, "mu >= 0, Assumption 1", 24

    def augmentation(self, c: FedAcConstants, T: int) -> float:
        sigma = self.sigma(c)
        return max(
            sigma / (sqrt(c.M * T) * c.D0),
            c.L ** (1 / 3) * (c.K * sigma / c.D0) ** (2 / 3) / T,
            2 * c.L * c.K / T**2 * log(e**2 + T**2 / c.K) ** 2,
        )

    def step_size(self, c: FedAcConstants, T: int) -> float:
        lam, sigma = self.augmentation(c, T), self.sigma(c)
        noise = over(lam * c.L * c.M * T * c.D0**2, sigma**2)
        drift = over(lam**2 * T**3 * c.D0**2, c.K**2 * sigma**2)
        return min(
            1 / (c.L + lam),
            c.K / (lam * T**2) * log(e + min(noise, drift)) ** 2,
            over((c.L * c.K) ** (1 / 3) * c.D0 ** (2 / 3), lam ** (2 / 3) * T * sigma ** (2 / 3)),
            over((c.L * c.K) ** (1 / 4) * c.D0 ** (1 / 2), lam ** (3 / 4) * T * sigma ** (1 / 2)),
        )

    def terms(self, c: FedAcConstants, T: int) -> dict[str, float]:
        sigma = self.sigma(c)
        drift = over(c.L ** (2 / 3) * T * c.D0 ** (2 / 3), (c.K * sigma) ** (2 / 3))
        factor = c.L ** (1 / 3) * (c.K * sigma) ** (2 / 3) * c.D0 ** (4 / 3) / T
        return {
            "initial": 2 * c.L * c.K * c.D0**2 / T**2 * log(e**2 + T**2 / c.K) ** 2,
            "noise": term(2 * sigma * c.D0 / sqrt(c.M * T), 2, e**2, over(c.L * sqrt(c.M * T) * c.D0, sigma)),
            "drift": term(1005 * factor, 4, e**4, drift),
        }


class E2(ConvexFedAc):
    """Theorem E.2, eq. E.6 to E.9: FedAc-II under Assumption 1, T >= 1000.

    Its text says Assumption 2; its title and Lemmas E.8 and E.9, on which it rests, need Assumption 1 only.
    """

    name, variant, assumptions, least_steps = "E.2", 2, "mu >= 0, Assumption 1", 1000

    def augmentation(self, c: FedAcConstants, T: int) -> float:
        sigma = self.sigma(c)
        return max(
            sigma / (sqrt(c.M * T) * c.D0),
            sqrt(c.L * sigma / c.D0) * c.K ** (3 / 4) / T,
            18 * c.L * c.K / T**2 * log(e**2 + T**2 / c.K) ** 2,
        )

    def step_size(self, c: FedAcConstants, T: int) -> float:
        lam, sigma = self.augmentation(c, T), self.sigma(c)
        noise = over(lam * c.L * c.M * T * c.D0**2, sigma**2)
        drift = over(lam**3 * T**4 * c.D0**2, c.L * c.K**3 * sigma**2)
        return min(
            1 / (c.L + lam),
            9 * c.K / (lam * T**2) * log(e + min(noise, drift)) ** 2,
            over(c.L ** (1 / 3) * c.D0 ** (2 / 3), (lam * T * sigma) ** (2 / 3)),
        )

    def terms(self, c: FedAcConstants, T: int) -> dict[str, float]:
        sigma = self.sigma(c)
        drift = over(sqrt(c.L * c.D0) * T, c.K ** (3 / 4) * sqrt(sigma))
        return {
            "initial": 10 * c.L * c.K * c.D0**2 / T**2 * log(e**2 + T**2 / c.K) ** 2,
            "noise": term(5 * sigma * c.D0 / sqrt(c.M * T), 1, e, over(c.L * sqrt(c.M * T) * c.D0, sigma)),
            "drift": term(16411 * sqrt(c.L * sigma) * c.K ** (3 / 4) * c.D0 ** (3 / 2) / T, 4, e**4, drift),
        }


class E3(E2):
    """Theorem E.3, eq. E.10 to E.13: FedAc-II under Assumption 2, T >= 1000."""

    name = "E.3"
    assumptions, fourth = "mu >= 0, Assumption 2", True

    def augmentation(self, c: FedAcConstants, T: int) -> float:
        sigma = self.sigma(c)
        return max(
            sigma / (sqrt(c.M * T) * c.D0),
            (c.L / c.M) ** (1 / 3) * (c.K * sigma / c.D0) ** (2 / 3) / T,
            (c.Q / c.D0) ** (1 / 3) * c.K * sigma ** (2 / 3) / T ** (4 / 3),
            18 * c.L * c.K / T**2 * log(e**2 + T**2 / c.K) ** 2,
        )

    def step_size(self, c: FedAcConstants, T: int) -> float:
        lam, sigma = self.augmentation(c, T), self.sigma(c)
        noise = over(lam * c.L * c.M * T * c.D0**2, sigma**2)
        drift = over(lam**2 * c.M * T**3 * c.D0**2, c.K**2 * sigma**2)
        curvature = over(lam**5 * c.L * T**8 * c.D0**2, c.Q**2 * c.K**6 * sigma**4)
        return min(
            1 / (c.L + lam),
            9 * c.K / (lam * T**2) * log(e + min(noise, drift, curvature)) ** 2,
            over((c.L * c.K * c.M) ** (1 / 3) * c.D0 ** (2 / 3), lam ** (2 / 3) * T * sigma ** (2 / 3)),
        )

    def terms(self, c: FedAcConstants, T: int) -> dict[str, float]:
        sigma = self.sigma(c)
        drift = over(c.L ** (2 / 3) * c.M ** (1 / 3) * T * c.D0 ** (2 / 3), (c.K * sigma) ** (2 / 3))
        factor = (c.L / c.M) ** (1 / 3) * (c.K * sigma) ** (2 / 3) * c.D0 ** (4 / 3) / T
        curvature = c.Q ** (1 / 3) * c.K * sigma ** (2 / 3)
        return {
            "initial": 10 * c.L * c.K * c.D0**2 / T**2 * log(e**2 + T**2 / c.K) ** 2,
            "noise": term(5 * sigma * c.D0 / sqrt(c.M * T), 1, e, over(c.L * sqrt(c.M * T) * c.D0, sigma)),
            "drift": term(139 * factor, 3, e**3, drift),
            "curvature": term(
                e**19 * curvature * c.D0 ** (5 / 3) / T ** (4 / 3),
                8,
                e**8,
                over(c.L * T ** (4 / 3) * c.D0 ** (1 / 3), curvature),
            ),
        }


class E4(FedAcTheorem):
    """Theorem E.4, eq. E.14 to E.16: FedAvg under Assumption 2, T >= 100, at the weighted mean of all iterates.

    The choices are those of FedAvg on the augmented objective.
    """

    name, short, algorithms = "E.4", "Table 2", ("fedavg-averaged",)
    assumptions, fourth, convex, averaged, least_steps = "mu >= 0, Assumption 2", True, True, True, 100

    def augmentation(self, c: FedAcConstants, T: int) -> float:
        sigma = self.sigma(c)
        return max(
            sigma / (sqrt(c.M * T) * c.D0),
            (c.Q * c.K / c.D0) ** (1 / 3) * (sigma / T) ** (2 / 3),
            16 * c.L / T * log(e + T),
        )

    def step_size(self, c: FedAcConstants, T: int) -> float:
        lam, variance = self.augmentation(c, T), self.sigma(c) ** 2
        noise = over(lam**2 * c.M * T**2 * c.D0**2, variance)
        curvature = over(lam**6 * T**5 * c.D0**2, c.Q**2 * c.K**2 * variance**2)
        return min(1 / (4 * (c.L + lam)), 2 / (lam * T) * log(e + min(noise, curvature)))

    def terms(self, c: FedAcConstants, T: int) -> dict[str, float]:
        sigma = self.sigma(c)
        curvature = (c.Q * c.K) ** (1 / 3) * (sigma / T) ** (2 / 3) * c.D0 ** (5 / 3)
        return {
            "initial": 50 * c.L * c.D0**2 / T * log(e + T),
            "noise": 6 * sigma * c.D0 / sqrt(c.M * T) * log(e**2 + T),
            "curvature": 3076 * curvature * log(e**5 + T) ** 4,
        }


# in the order of the paper's main part
FEDAC_THEOREMS: dict[str, FedAcTheorem] = {theorem.name: theorem() for theorem in (B1, C13, C1, D1, E1, E2, E3, E4)}
