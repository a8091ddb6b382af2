"""What the system holds back from a process that reads foreign files.

Linux holds back most of it: files by Landlock, system calls by seccomp. Other systems keep the shorter environment.
"""
