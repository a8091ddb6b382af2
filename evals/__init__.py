"""Evaluation: run a data set through the real graph without HTTP, and measure the outcome.

cases, sets, golden                         questions, documents and gold evidence
dataset_store, case_run, recorder           ask every question of a stored data set
evaluation, records, run_folder             run a data set, and what a run writes to its folder
metrics, bootstrap, error_analysis          figures with intervals, and what went wrong
report, run_comparison, langsmith           reports, comparisons and exports of runs
ragas_metrics                               ragas' data set format and metrics
gate                                        the golden set against thresholds and a baseline
retrievers                                  our search or another, and measuring search alone
scripted_endpoint, scripted_replies         a scripted OpenAI-compatible model, for tests and benchmarks too
"""
