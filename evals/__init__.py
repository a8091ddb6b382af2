"""What Citewell is measured by, over the graph as it runs, without HTTP.

cases, datasets, golden, development        what is asked, and of what
stored, removal, workspace                  a data set in a library
evaluation, running, asking, recording      a run of it, from end to end
records, run_folder, configuration          what a run leaves
metrics, bootstrap, mistakes                what is made of records
report, comparison, langsmith, ragas_lane   how that is shown and handed on
gate, probe                                 what is built on runs
retrieval_run, claims, wice, rgb,           measurements of one thing each
injection, repair, small_talk
fit_reader, fit_support                     what the extractive family and the claim checker are fitted by
"""
