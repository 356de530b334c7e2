"""Theorems of Yuan & Ma (2020) for mu-strongly convex objectives: Appendices B, C and D."""

from math import e, exp, log, sqrt

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
