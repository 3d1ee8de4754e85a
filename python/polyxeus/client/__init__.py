"""The connection to a cluster: its engines, queries of the controller, control messages, waiting.

What runs on engines is sent by views. Clusters are started in polyxeus.cluster.
"""
