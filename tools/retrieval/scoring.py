"""How the two legs become one order, and that order a score: SQL expressions over the pool of candidates.

Both legs' scores are computed for every candidate of the pool, whichever leg brought it.
"""

DENSE_SHARE = 0.5

FUSED = f"""
    CASE WHEN max(lexical) OVER () > min(lexical) OVER ()
        THEN (lexical - min(lexical) OVER ()) / (max(lexical) OVER () - min(lexical) OVER ())
        ELSE sign(lexical) END
    + {DENSE_SHARE} * %(coverage)s::float8
    * CASE WHEN max(similarity) OVER () > min(similarity) OVER ()
        THEN (similarity - min(similarity) OVER ()) / (max(similarity) OVER () - min(similarity) OVER ())
        ELSE 1 END"""

CALIBRATED = """
    1 / (1 + exp(-(-3.0 + 8.0 * lexical / (2.2 * greatest(attainable, 1e-6))
    + 2.5 * %(coverage)s::float8 * similarity)))"""


def dense_coverage(coverage: float) -> float:
    """Turn how far the embedding model understands a question into the weight of the dense leg, from 0 to 1.

    The thresholds separate languages that the static model knows (0.9) from those it spells out (0.1 and less).
    """
    return min(max((coverage - 0.4) / 0.5, 0.0), 1.0)
