"""The connection to a cluster: its engines, queries of the controller, control messages, waiting.

Views send the code that runs on engines. polyxeus.cluster starts clusters.
"""
