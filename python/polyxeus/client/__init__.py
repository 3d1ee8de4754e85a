"""The client of a cluster: it tracks the engines, queries the controller, sends control messages and waits for results.

Views send the code that runs on engines. polyxeus.cluster starts clusters.
"""
