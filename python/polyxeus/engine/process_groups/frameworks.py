"""Resets torch objects that still refer to collective calls which ended because a rank failed or was interrupted."""

import gc
import logging
import sys


def forget_what_was_under_way():
    """Resets all torch objects that refer to ended calls. Called in the main thread, before user
    code runs in a new epoch."""
    resets = [(getattr(sys.modules[module], name), reset) for module, name, reset in (
        ("torch.nn.parallel.distributed", "DistributedDataParallel", _reset_ddp),
        ("torch.distributed.fsdp._fully_shard._fully_shard", "FSDPModule", _reset_fsdp),
    ) if module in sys.modules]
    for each in gc.get_objects() if resets else ():
        for kind, reset in resets:
            if issubclass(type(each), kind):
                reset(each)


def _reset_ddp(model):
    """Resets the gradient buckets of DistributedDataParallel, which wait for gradients after an
    interrupted backward pass."""
    if hasattr(model, "_update_process_group"):
        model._update_process_group(model.process_group)


def _reset_fsdp(module):
    """Resets the states and the unsharded parameters of an FSDP2 module after an interrupted pass,
    so that this rank gathers the parameters again together with the other ranks."""
    try:
        _forget_pass(module._get_fsdp_state())
    except AttributeError as problem:  # these attributes are not part of torch's public interface
        logging.getLogger("polyxeus").warning("a module of FSDP2 may not go on after the stop: %s", problem)


def _forget_pass(state):
    from torch.distributed.fsdp._fully_shard._fsdp_common import TrainingState

    for group in state._fsdp_param_groups:
        group._training_state = TrainingState.IDLE
        group._all_gather_result = group._all_reduce_state = group._partial_reduce_output = None
        group._post_backward_pending = False
        group._post_forward_indices.clear()
        group._partial_reduce_output_layout.clear()
        for parameter in group.fsdp_params:
            whole = getattr(parameter, "_unsharded_param", None)
            if whole is not None:
                whole.grad = None
        group._to_sharded()
    state._training_state = TrainingState.IDLE
    state._state_ctx.iter_forward_root = None
    state._state_ctx.post_backward_final_callback_queued = False
    state._comm_ctx.all_gather_state = None
    state._comm_ctx.reduce_scatter_states.clear()
    state._comm_ctx.post_forward_order.clear()
