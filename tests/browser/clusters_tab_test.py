"""The tab of polyxeus in a real JupyterLab: a cluster from its start to its end, without a command."""

from notebook_page import opened_in_lab


def accept(page, n=None):
    """Fills in the number of engines, and accepts what the page asks."""
    dialog = page.locator(".jp-Dialog").element_handle()
    if n is not None:
        dialog.query_selector("input[type=number]").fill(str(n))
    dialog.query_selector("button.jp-mod-accept").click()
    dialog.wait_for_element_state("hidden")  # the next one, which refuses it, may be there by now


def test_a_cluster_is_driven_from_the_tab(server, page, screenshots):
    book = opened_in_lab(server, page, "tab", ["", ""])
    page.locator(".lm-TabBar-tab[data-id='polyxeus-clusters']").click()
    tab = page.locator("#polyxeus-clusters")
    tab.get_by_text("No cluster is running.").wait_for()

    tab.get_by_title("Start a cluster").click()
    accept(page, n=2)
    tab.get_by_text("2 engines · local").wait_for()
    assert tab.locator(".px-name").all_inner_texts() == ["default"]
    page.screenshot(path=screenshots / "lab-clusters-tab.png")

    book.cells.nth(0).locator(".cm-content").click()
    tab.get_by_title("Insert code that connects to it").click()
    assert "import polyxeus as px" in book.cells.nth(0).inner_text(), "the cell was empty"
    assert "[0, 1]" in book.run(0)
    tab.get_by_title("Insert code that connects to it").click()
    book.wait_until(lambda: book.cells.count() == 3, "a new cell, as the active one has code")

    tab.get_by_title("Change the number of engines").click()
    accept(page, n=3)
    tab.get_by_text("3 engines · local").wait_for()
    tab.get_by_title("Change the number of engines").click()
    accept(page, n=0)
    refusal = page.locator(".jp-Dialog", has_text="a cluster must have at least one engine")
    refusal.wait_for()
    page.screenshot(path=screenshots / "lab-clusters-refusal.png")
    refusal.locator(".jp-Dialog-footer button").click()

    tab.get_by_title("Show what its engines do").click()
    dashboard = page.frame_locator(".jp-IFrame iframe")
    dashboard.get_by_role("status").get_by_text("live").wait_for()
    dashboard.get_by_text("3 engines").wait_for()
    dashboard.locator(".tile").nth(1).click()
    dashboard.get_by_role("button", name="Interrupt engine 1").click()
    dashboard.get_by_text("interrupt: sent").wait_for()
    page.screenshot(path=screenshots / "lab-dashboard.png")
    tab.get_by_title("Show what its engines do").click()
    assert page.locator(".jp-IFrame").count() == 1, "the same tab comes to the front"

    tab.get_by_title("Stop the cluster").click()
    accept(page)
    tab.get_by_text("No cluster is running.").wait_for()
