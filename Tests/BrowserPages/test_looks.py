"""How the pages look: for axe, and for the README, in the four ways that people see them."""

import os
import tempfile
import unittest
from pathlib import Path

from support import PACKAGE, Browser, BrowseTest, Keys, Server, filedb

SIZES = {"wide": (1280, 720), "narrow": (390, 720)}


class LooksTest(BrowseTest):
    def fill(self):
        super().fill()
        filedb(self.store, "create", "notes")

    def test_axe_finds_nothing_serious_on_any_page(self):
        browser = self.browser
        self.open()
        for scheme in ("light", "dark"):
            for size in SIZES.values():
                browser.look(*size, scheme)
                with self.subTest(f"{scheme}, {size}"):
                    self.assertEqual(self.faults_of_all_states(), [])

    def faults_of_all_states(self):
        browser = self.browser
        faults = browser.serious_faults()
        browser.click(browser.find('.row[data-id="3"] .tick'))
        browser.keys((Keys.SHIFT, Keys.ENTER))
        browser.find("dialog.is-sheet")
        faults += browser.serious_faults()
        browser.keys(Keys.ESCAPE)
        browser.gone("dialog")
        browser.keys(Keys.ESCAPE)
        browser.write('[aria-label="Filter"]', "kcal <<")
        browser.wait(lambda: browser.text(".filter-problem") != "", "no mistake is said")
        browser.click(browser.button("Help for filters"))
        browser.wait_for_text(".filter-help", "kcal")
        faults += browser.serious_faults()
        browser.click(browser.button("Help for filters"))
        browser.find('[aria-label="Filter"]').send_keys(Keys.ESCAPE)
        browser.click(browser.find('[data-column="carbohydrate"]'))
        browser.wait_for_text(".status", "View sorted")
        faults += browser.serious_faults()
        browser.click(browser.button("End the sorting"))
        browser.click(browser.cell("3", "name"))
        browser.keys((Keys.CONTROL, Keys.HOME), Keys.ARROW_UP, (Keys.ALT, Keys.ARROW_DOWN))
        browser.find(".menu")
        faults += browser.serious_faults()
        browser.click(browser.button("Type and rules", inside=".menu"))
        browser.find("dialog")
        faults += browser.serious_faults()
        browser.keys(Keys.ESCAPE)
        browser.gone("dialog")
        browser.double_click(browser.cell("3", "name"))
        browser.find(".cell-editor")
        faults += browser.serious_faults()
        browser.keys(Keys.ESCAPE)
        browser.driver.execute_script("location.hash = '#/notes'")
        browser.wait_for_text(".empty", "No records yet")
        faults += browser.serious_faults()
        browser.driver.execute_script("location.hash = '#/food'")
        browser.cell("1", "name")
        return faults

    def test_messages_cover_no_record(self):
        browser = self.browser
        self.open()
        for size in SIZES.values():
            browser.look(*size, "light")
            for number in range(3):
                filedb(self.store, "set", "food", "1", f"kcal:integer={number}")
                browser.wait_for_cell("1", "kcal", str(number)) if size[0] > 900 else browser.notice("elsewhere")
            covering = browser.driver.execute_script("""
              const end = document.querySelector('.grid-scroller').getBoundingClientRect().bottom;
              return [...document.querySelectorAll('.notice')]
                .filter((notice) => notice.getBoundingClientRect().top < end).map((notice) => notice.outerHTML);""")
            self.assertEqual(covering, [])
        browser.look(*SIZES["wide"], "light")

    def test_a_list_and_a_sheet_fit_a_small_telephone(self):
        browser = self.browser
        filedb(self.store, "add", "notes", 'place:json={"room": {"shelf": 3, "box": ["a", "b"]}}', "name=Lamp")
        self.open()
        browser.driver.execute_script("location.hash = '#/notes'")
        browser.wait_for_cell("1", "name", "Lamp")
        browser.look(360, 640, "light")
        browser.click(browser.cell("1", "name"))
        browser.keys((Keys.SHIFT, Keys.ENTER))
        browser.find("dialog .tree .tree")
        wide = browser.driver.execute_script("""
          return [...document.querySelectorAll('dialog :is(input, select, textarea, button)')]
            .filter((node) => node.getBoundingClientRect().right > innerWidth).map((node) => node.outerHTML);""")
        self.assertEqual(wide, [])
        self.assertEqual(browser.serious_faults(), [])
        browser.keys(Keys.ESCAPE)
        browser.gone("dialog")
        browser.look(*SIZES["wide"], "light")

    def test_nothing_is_cut_off_in_a_small_window(self):
        """1280 by 720 pixels, enlarged to 200%."""
        browser = self.browser
        self.open()
        browser.look(640, 360, "light")
        self.addCleanup(browser.look, *SIZES["wide"], "light")
        self.assert_all_in_view(".header :is(h1, button), .toolbar button, .filter-bar input, .status, .grid-scroller")
        browser.click(browser.find('.row[data-id="3"] .tick'))
        browser.wait_for_text(".toolbar", "1 selected")
        self.assert_all_in_view(".toolbar button")
        browser.keys((Keys.SHIFT, Keys.ENTER))
        browser.find("dialog.is-sheet")
        self.assert_all_in_view("dialog, dialog :is(input, select, textarea, button)")
        browser.keys(Keys.ESCAPE)
        browser.gone("dialog")

    def assert_all_in_view(self, selector):
        """Nothing is beyond the left or the right edge of the window."""
        script = """
          const edges = (node) => node.getBoundingClientRect();
          return [document.documentElement.scrollWidth - innerWidth, [...document.querySelectorAll(arguments[0])]
            .filter((node) => node.checkVisibility() && (edges(node).left < 0 || edges(node).right > innerWidth))
            .map((node) => node.outerHTML.slice(0, 100))];"""
        self.assertEqual(self.browser.driver.execute_script(script, selector), [0, []])

    def test_nothing_moves_for_people_who_want_that(self):
        browser = self.browser
        self.open()
        self.addCleanup(browser.look, *SIZES["wide"], "light")
        for motion, duration in (("reduce", "0s"), ("no-preference", "0.4s")):
            preference = {"name": "prefers-reduced-motion", "value": motion}
            browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [preference]})
            filedb(self.store, "set", "food", "1", f"note={motion}")
            row = browser.find('.row.is-marked[data-id="1"]')
            self.assertEqual(row.value_of_css_property("transition-duration"), duration)
            browser.gone(".row.is-marked")

    def test_all_records_are_printed(self):
        browser = self.browser
        self.open()
        browser.driver.execute_script("""
          window.print = () => {
            const count = (selector) => document.querySelectorAll(`.printed ${selector}`).length;
            window.printed = [count('tbody tr'), count('thead th')];
          };""")
        for order in (lambda: browser.click(browser.button("Print")), lambda: browser.keys((Keys.CONTROL, "p"))):
            order()
            take = "const printed = window.printed; window.printed = undefined; return printed;"
            printed = browser.wait(lambda: browser.driver.execute_script(take), "nothing is printed")
            self.assertEqual(printed, [76, 9])
            browser.driver.execute_script("dispatchEvent(new Event('afterprint'))")
            browser.gone(".printed")

    def test_the_tables_fold_away_where_the_window_is_narrow(self):
        browser = self.browser
        self.open()
        browser.look(*SIZES["narrow"], "light")
        browser.wait(lambda: not browser.find("#sidebar").is_displayed(), "the tables are in the way")
        browser.click(browser.button("Tables"))
        browser.click(browser.find('.tables a[href="#/notes"]'))
        browser.wait_for_text(".empty", "No records yet")
        browser.wait(lambda: not browser.find("#sidebar").is_displayed(), "the tables stay")
        width = browser.driver.execute_script("return document.documentElement.scrollWidth")
        self.assertLessEqual(width, 390)
        browser.look(*SIZES["wide"], "light")


class PictureTest(unittest.TestCase):
    """Makes the README's pictures from the quickstart's data, and keeps them with $FILEDB_PICTURES."""

    def test_pictures(self):
        with tempfile.TemporaryDirectory(prefix="filedb-browse.") as folder:
            store = Path(folder) / "quickstart"
            store.mkdir()
            self.fill(store)
            server = Server(store)
            self.addCleanup(server.stop)
            browser = Browser()
            self.addCleanup(browser.quit)
            browser.open(server.address, "1")
            browser.driver.execute_script("document.querySelector('.store-path bdi').textContent = '~/quickstart'")
            browser.click(browser.find('.row[data-id="1"] .tick'))
            pictures = Path(__file__).parent / "Pictures" if os.environ.get("FILEDB_PICTURES") else Path(folder)
            for name, size in SIZES.items():
                for scheme in ("light", "dark"):
                    browser.look(*size, scheme)
                    browser.driver.save_screenshot(str(pictures / f"{name}-{scheme}.png"))
            self.assertEqual(browser.complaints(), [])

    def fill(self, store):
        """What the quickstart does first. A schema says in which order the columns are shown."""
        filedb(store, "create", "food")
        for name in ("name", "group", "kcal", "protein", "fat", "carbohydrate", "fibre", "note"):
            type = {"name": "string", "group": "string", "note": "string", "kcal": "integer"}.get(name, "float")
            filedb(store, "schema", "food", name, "--type", type)
        filedb(store, "import", str(PACKAGE / "Examples/foods.csv"), "food", "--header")
        filedb(
            store,
            "add",
            "food",
            "name=Quince",
            "group=Fruit",
            "kcal:integer=57",
            "protein:float=0.4",
            "fat:float=0.1",
            "carbohydrate:float=15.3",
            "fibre:float=1.9",
            "--top",
        )
        filedb(store, "move", "food", "3", "--top")
