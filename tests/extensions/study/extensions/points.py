from fedatlas import File, Form, Source

POINTS = Source(
    "points",
    title="A few points",
    group="mine",
    page="https://example.org",
    licence="none",
    citation="me2026",
    forms=(Form("table", (File("points.txt"),), {"delimiter": ";"}),),
    classes=2,
    rows=8,
    shape=(2,),
    dtype="float64",
)
