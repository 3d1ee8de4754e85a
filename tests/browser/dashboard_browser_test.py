"""The page of the dashboard in Chromium, on made-up snapshots of 1,000 engines."""

import pytest
from dashboard_fake import MARKUP, PAGE, TOKEN, FakeController

VIEWS = ["Engines", "Tasks", "Queue", "Waits", "Hosts", "Cells", "Clients", "Events", "Stacks"]


@pytest.fixture(scope="module")
def controller():
    if not (PAGE / "page.js").is_file():
        pytest.fail(f"there is no page in {PAGE}: it was built without npm")
    controller = FakeController(1000)
    yield controller
    controller.close()


@pytest.fixture
def dashboard(controller, page):
    """The page with its token, live. Fails the test for anything that the browser complains of."""
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: message.type in ("error", "warning") and complaints.append(message.text))
    page.on("request", lambda request: request.url.startswith(controller.address) or complaints.append(request.url))
    page.goto(f"{controller.address}#token={TOKEN}")
    page.get_by_role("status").get_by_text("live").wait_for()
    yield page
    assert complaints == []
    assert page.title() == "polyxeus", "markup of an engine was run"


def open_view(page, name):
    page.get_by_role("tab", name=name).click()
    return page.get_by_role("tabpanel", name=name)


def wait_for_news(page, count=1):
    """Until the page has drawn so many further snapshots."""
    page.locator("main[data-snapshot]").wait_for()  # the first one may not have come yet
    number = int(page.locator("main").get_attribute("data-snapshot"))
    page.wait_for_function("number => document.querySelector('main').dataset.snapshot >= number", arg=number + count)


def test_the_page_is_small():
    assert sum(file.stat().st_size for file in PAGE.iterdir()) <= 300_000


def test_each_view_shows_what_the_controller_says(dashboard, screenshots):
    for name in VIEWS:
        open_view(dashboard, name).wait_for()
        wait_for_news(dashboard)
        dashboard.screenshot(path=screenshots / f"dashboard-{name.lower()}.png")
    assert dashboard.locator("img").count() == 0


def test_engines_are_tiles_and_rows(dashboard):
    view = open_view(dashboard, "Engines")
    view.locator(".tile").nth(999).wait_for()
    assert view.locator(".tile").count() == 1000
    assert view.locator("tbody tr").count() < 100  # those in view
    view.get_by_role("searchbox").fill("node3 allreduce")
    view.get_by_text("waits in MPI_Allreduce").first.wait_for()
    assert 0 < view.locator(".tile").count() < 64
    view.get_by_role("searchbox").fill("")
    view.locator(".tile", has_text="3").first.click()
    details = view.get_by_label("engine 3", exact=True)
    assert MARKUP in details.inner_text()


def test_the_table_is_sorted_by_a_click_and_walked_by_keys(dashboard):
    view = open_view(dashboard, "Engines")
    table = view.get_by_role("region", name="engines")
    table.get_by_role("button", name="engine", exact=False).first.click()
    assert table.locator("tbody tr td").first.inner_text() == "999"
    table.focus()
    dashboard.keyboard.press("Home")
    assert table.locator("tr.chosen td").first.inner_text() == "999"
    dashboard.keyboard.press("ArrowDown")
    assert table.locator("tr.chosen td").first.inner_text() == "998"


def test_orders_reach_the_controller(dashboard, controller):
    view = open_view(dashboard, "Engines")
    dashboard.on("dialog", lambda dialog: dialog.accept())
    view.locator(".tile", has_text="8").first.click()
    view.get_by_role("button", name="Interrupt engine 8").click()
    dashboard.get_by_text("interrupt: sent").wait_for()
    view.get_by_label("signal").select_option("TERM")
    view.get_by_role("button", name="Send signal").click()
    dashboard.get_by_text("signal: sent").wait_for()
    view.get_by_role("button", name="Shut down").click()
    dashboard.get_by_text("shutdown: sent").wait_for()
    assert controller.orders[-3:] == [("interrupt", {"engines": [8]}), ("signal", {"engines": [8], "signal": "TERM"}),
                                      ("shutdown", {"engines": [8]})]  # fmt: skip


def test_engines_are_drained_and_resumed(dashboard, controller):
    view = open_view(dashboard, "Engines")
    view.locator(".tile", has_text="8").first.click()
    view.get_by_role("button", name="Drain").click()
    dashboard.get_by_text("drain: sent").wait_for()
    view.get_by_role("searchbox").fill("drained")
    view.locator(".tile.drained").click()
    view.get_by_text("waits in MPI_Recv, drained").first.wait_for()
    view.get_by_role("button", name="Resume tasks").first.click()
    dashboard.get_by_text("resume: sent").wait_for()
    assert controller.orders[-2:] == [("drain", {"engines": [8]}), ("resume", {"engines": [9]})]


def test_what_the_controller_cannot_do_is_said(controller, page):
    page.goto(f"{controller.address}#token={TOKEN}")
    page.on("dialog", lambda dialog: dialog.accept())
    view = open_view(page, "Engines")
    view.locator(".tile", has_text="8").first.click()
    view.get_by_role("button", name="Restart").click()
    page.get_by_role("alert").get_by_text("run `pxcluster restart`").wait_for()
    assert controller.orders[-1] == ("restart", {"engines": [8]})


def stacks(view):
    """Of each group the lines: who and what, then the calls."""
    return view.locator(".stack").evaluate_all(
        "all => all.map(each => [...each.querySelectorAll('header, li')].map(line => line.innerText))")


def test_equal_stacks_stand_once_and_the_odd_one_first(dashboard, controller):
    view = open_view(dashboard, "Stacks")
    assert not [name for name, _ in controller.orders if name == "stacks"], "nobody has asked"
    view.get_by_label("Engines").fill("0-7, 9")
    view.get_by_role("button", name="Take the stacks of 9 engines").click()
    view.locator(".stack").first.wait_for()
    assert controller.orders[-1] == ("stacks", {"engines": [0, 1, 2, 3, 4, 5, 6, 7, 9]})
    heads = [lines[0] for lines in stacks(view)]
    assert heads == [
        "2 in C code that holds Python\u2019s lock (comm.Barrier()) for 42 s",
        "3 busy (comm.Barrier()) for 43 s",
        "5 idle",
        "6 have not answered within 6 s",
        "7 it cannot report stacks",
        "0-1, 4, 9 in MPI_Barrier for up to 9.0 s",
    ]
    lines = {head.split()[0]: [" ".join(line.split()) for line in rest] for head, *rest in stacks(view)}
    assert lines["2"] == [f"spin {MARKUP} libspin.so", "<module> cell line 9"]
    assert lines["3"] == ["ask a.py:3", "<module> cell line 4"]
    assert lines["0-1,"] == [
        "... (in different functions)", "PMPI_Barrier libmpi.so.40", "MPI.so+0x10", "<module> cell line 4"]  # fmt: skip
    view.get_by_label("threads of libraries").check()
    assert [lines[0] for lines in stacks(view)][-1] == "0-4, 9 12 threads of libraries"
    open_view(dashboard, "Events")
    assert stacks(open_view(dashboard, "Stacks"))[0][0].startswith("2 in C code"), "it stays"


def test_the_events_are_those_of_the_event_log(dashboard):
    view = open_view(dashboard, "Events")
    rows = view.locator("tbody tr:not([aria-hidden])").evaluate_all(
        "all => all.map(row => [...row.querySelectorAll('td')].slice(1).map(cell => cell.innerText))")
    assert rows == [["died", "5", "node0", f"because {MARKUP}"], ["joined", "0", "node0", "it joined"],
                    ["started", "", "", "the controller has started"]]  # fmt: skip


def test_who_waits_for_whom_is_said_in_words(dashboard):
    view = open_view(dashboard, "Waits")
    view.get_by_text("Ranks 0-6 wait in MPI_Allreduce for 4.2 s; not there: 7").first.wait_for()
    view.get_by_text("Rank 1 (engine 9) waits in MPI_Recv for 5.5 s; not there: 0").first.wait_for()


def test_equal_output_of_a_cell_is_shown_once(dashboard):
    view = open_view(dashboard, "Cells")
    assert view.locator(".output .who").all_inner_texts() == ["0-2, 4-7"]
    assert view.locator(".error pre").all_inner_texts() == [f"ZeroDivisionError {MARKUP}"]


def test_the_token_leaves_the_address_and_outlives_a_reload(dashboard, controller):
    assert dashboard.url == controller.address
    dashboard.reload()
    dashboard.get_by_role("status").get_by_text("live").wait_for()


def test_without_a_token_the_page_asks_for_it(controller, page):
    page.goto(controller.address)
    page.get_by_label("Token or address").fill("wrong")
    page.get_by_role("button", name="Open").click()
    page.get_by_text("the token is missing or wrong").wait_for()
    page.get_by_label("Token or address").fill(f"{controller.address}#token={TOKEN}")
    page.get_by_role("button", name="Open").click()
    page.get_by_role("status").get_by_text("live").wait_for()


def test_a_controller_that_goes_is_told_and_comes_back(page):
    first = FakeController(4)
    page.goto(f"{first.address}#token={TOKEN}")
    page.get_by_role("status").get_by_text("live").wait_for()
    first.close()
    page.get_by_role("alert").get_by_text("Trying again").wait_for()


def test_keys_choose_views(dashboard):
    dashboard.keyboard.press("4")
    assert dashboard.get_by_role("tab", name="Waits").get_attribute("aria-selected") == "true"
    dashboard.get_by_role("tab", name="Waits").focus()
    dashboard.keyboard.press("ArrowRight")
    assert dashboard.get_by_role("tab", name="Hosts").get_attribute("aria-selected") == "true"
    dashboard.keyboard.press("1")
    dashboard.keyboard.press("/")
    assert dashboard.get_by_role("searchbox").evaluate("element => element === document.activeElement")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_fits_phones_and_themes(controller, browser, screenshots, theme, width):
    page = browser.new_page(viewport={"width": width, "height": 844}, color_scheme=theme)
    page.goto(f"{controller.address}#token={TOKEN}")
    page.get_by_role("status").get_by_text("live").wait_for()
    for name in VIEWS:
        open_view(page, name).wait_for()
        wait_for_news(page)
        page.screenshot(path=screenshots / f"dashboard-{theme}-{width}-{name.lower()}.png")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
    page.close()
