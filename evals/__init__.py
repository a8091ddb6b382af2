"""Evaluation: run a data set through the real graph without HTTP, and measure what comes out.

cases, sets, golden                         questions, documents and gold evidence
dataset_store, case_run, recorder, running  ask every question of a stored data set
records, run_folder, evaluation             what a run writes to its folder
metrics, bootstrap, error_analysis          figures with intervals, and what went wrong
report, run_comparison, langsmith           reports, comparisons and exports of runs
ragas_metrics                               ragas' data set format and metrics
gate                                        the golden set against thresholds and a baseline
retrieval_run                               search alone
scripted_endpoint, scripted_replies         a scripted OpenAI-compatible model, for tests and benchmarks too
"""
