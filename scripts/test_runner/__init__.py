"""Runs the groups of tests side by side, reruns what failed, and says what came of it.

cases     one test and its outcome; reads and writes JUnit XML
verdicts  which tests are flaky: failed first, passed alone afterwards
lanes     which group runs when
programs  starts the programs of a group, in folders of its own, and ends them
groups    the kinds of groups: builds, ctest, pytest, the peer suite
catalogue every group of this project, and in which lane it runs
summary   the last lines of a run
main      the command line
"""
