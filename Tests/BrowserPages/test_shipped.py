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

    def test_the_first_page_asks_for_all_files_at_once(self):
        self.open()
        page = self.browser.driver.execute_async_script(
            "fetch('/').then((a) => a.text()).then(arguments[0], arguments[0])")
        asked = re.findall(r'(?:href|src)="/pages/(?:\w+/)?([^"/]+)"', page)
        self.assertEqual(sorted(asked), sorted(page.name for page in PAGES.iterdir() if page.suffix in (".js", ".css")))
