"""Uses of the public API that type checkers must report: each line that ends in `# wrong`, no other."""

import polyxeus as ipp


def square(n: int) -> int:
    return n * n


def test_calls(rc: ipp.Client) -> None:
    view = rc[:]
    view.aply(len)  # wrong
    view.apply_sync(square)  # wrong
    view.apply_sync(square, "two")  # wrong
    view.apply_async(square, number=2)  # wrong
    view.apply_async(5)  # wrong
    view.execute(5)  # wrong
    view.push("a")  # wrong
    view.push({"a": 1}, blocking=True)  # wrong
    view.pull(5)  # wrong
    view.scatter("a", range(4), dist="blocks")  # wrong
    view.temp_flags(blok=True)  # wrong
    view.imap(5)  # wrong
    rc["0"]  # wrong
    rc.interrupt(target=0)  # wrong
    rc.wait_for_engines("4")  # wrong
    rc.direct_views()  # wrong
    rc.ids.upper()  # wrong


def test_results(rc: ipp.Client) -> None:
    balanced = rc.load_balanced_view()
    text: str = balanced.apply_sync(square, 2)  # wrong
    texts: list[str] = balanced.map_sync(square, [2])  # wrong
    balanced.apply_async(square, 2).get().upper()  # wrong
    balanced.map_async(square, [2]).get()[0].upper()  # wrong
    balanced.executor.submit(square, "2")  # wrong
    balanced.set_flags(retries="3")  # wrong
    balanced.map_sync(square)[0].upper()  # wrong
    result = balanced.apply_async(square, 2)
    result.gett()  # wrong
    result.get(timeout="5")  # wrong
    result.wait(return_when="FIRST")  # wrong
    result.stdot  # wrong
    result.display_outputs(groupby="engines")  # wrong
    print(text, texts)


async def test_awaiting(rc: ipp.Client) -> str:
    return await rc.load_balanced_view().apply_async(square, 2)  # wrong


def test_others() -> None:
    ipp.Cluster(n="four")  # wrong
    ipp.Cluster(nn=4)  # wrong
    ipp.Cluster().start_cluster_sync().ids  # wrong
    ipp.Client(profil="mpi")  # wrong
    ipp.Client(timeout="5")  # wrong
    ipp.Clint()  # wrong
    ipp.RemoteError("name", "text", "lines").enam  # wrong
    ipp.depend(square, 2)(5)  # wrong
