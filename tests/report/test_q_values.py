"""q-values."""

from fedatlas.publish.report.facts import add_q_values


def test_q_values_are_of_a_family_and_of_the_claims_with_a_test():
    claims = [{"paper": paper, "p": p} for paper, p in (("a", "0.01"), ("a", ""), ("a", "0.04"), ("b", "0.04"))]
    add_q_values(claims, lambda row: row["paper"])
    assert [row["q"] for row in claims] == ["0.02", "", "0.04", "0.04"]
    untested = [{"p": ""}]
    add_q_values(untested, lambda row: "a")
    assert untested == [{"p": "", "q": ""}]
