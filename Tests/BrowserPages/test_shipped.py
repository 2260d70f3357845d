"""What is in the program: all pages, as they are in their folder."""

import re

from support import PACKAGE, BrowseTest

PAGES = PACKAGE / "Sources/FileDBBrowse/Pages"


class ShippedTest(BrowseTest):
    def test_every_page_is_in_the_program(self):
        self.open()
        read = "fetch(arguments[0]).then((a) => a.text()).then(arguments[1], arguments[1])"
        for page in sorted(PAGES.iterdir()):
            with self.subTest(page.name):
                served = self.browser.driver.execute_async_script(read, f"/pages/{page.name}")
                self.assertEqual(served, page.read_text())

    def test_the_first_page_asks_for_all_modules_at_once(self):
        preloaded = re.findall(r'modulepreload" href="/pages/([^"]+)"', (PAGES / "index.html").read_text())
        modules = {page.name for page in PAGES.glob("*.js")} - {"main.js", "early.js", "events-worker.js"}
        self.assertEqual(sorted(preloaded), sorted(modules))
