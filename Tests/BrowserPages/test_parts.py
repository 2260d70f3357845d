"""The parts of the pages alone, on a server that is faked in memory: gallery.html."""

import functools
import threading
import unittest
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

from support import PACKAGE, Browser, Keys


class SilentHandler(SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


class PartsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        handler = functools.partial(SilentHandler, directory=str(PACKAGE))
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        cls.addClassCleanup(server.server_close)
        cls.addClassCleanup(server.shutdown)
        cls.address = f"http://127.0.0.1:{server.server_port}/Tests/BrowserPages/gallery.html"
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.quit)

    def setUp(self):
        self.browser.driver.get("about:blank")
        self.browser.driver.get(self.address)
        self.browser.find(".gallery")

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])

    def test_axe_finds_nothing_serious_in_the_parts(self):
        self.assertEqual(self.browser.serious_faults(), [])

    def test_axe_finds_nothing_serious_in_the_dialogs(self):
        browser = self.browser
        for label in ("A record", "A conflict", "Deleted meanwhile", "Move to", "Paste", "Keys"):
            with self.subTest(label):
                browser.click(browser.button(label))
                browser.find("dialog")
                self.assertEqual(browser.serious_faults(), [])
                browser.keys(Keys.ESCAPE)
                browser.gone("dialog")

    def test_a_date_shows_what_is_stored(self):
        browser = self.browser
        browser.write('[data-editor="date"] input', "2026-10-25 02:30:00+01:00")
        browser.wait_for_text('[data-editor="date"] .note', "Stored as 2026-10-25T01:30:00Z")
        browser.write('[data-editor="date"] input', "2026-02-30")
        browser.wait_for_text('[data-editor="date"] .note', "no such date")

    def test_a_text_is_pasted_as_it_was_copied(self):
        check = """
          const done = arguments[0];
          import('/Sources/FileDBBrowse/Pages/values.js').then(({ cellText, textOfCell }) => {
            const wrong = ['two\\nlines', '"quoted" text', '"', 'a\\t"b"'].filter((text) =>
              textOfCell(cellText(text)) !== text);
            const changed = ['plain', '"quoted"', '""', '"one" "two"'].filter((text) => textOfCell(text) !== undefined);
            const start = performance.now();
            textOfCell('"' + 'word\\n'.repeat(200000));
            textOfCell('"' + '""\\n'.repeat(200000));
            done([wrong, changed, performance.now() - start]);
          });"""
        wrong, changed, time = self.browser.driver.execute_async_script(check)
        self.assertEqual((wrong, changed), ([], []))
        self.assertLess(time, 2000, "milliseconds for two long texts")

    def test_a_large_table_is_shown_when_it_was_read(self):
        browser = self.browser
        browser.open(f"{self.address}?app#/large")
        browser.wait_for_text(".main", "Reading large")
        self.assertIn("222 MB", browser.text(".main"))
        browser.wait_for_text(".sidebar", "reading…")
        self.assertEqual(browser.serious_faults(), [])
        browser.driver.execute_script("fakeServer.finishReading()")
        browser.wait_for_cell("1", "name", "Record 1")
        browser.wait_for_text(".header", "1,000,000 records")

    def test_a_folder_that_follows_a_shared_store_says_what_is_behind(self):
        browser = self.browser

        def share(problem, *edited, repairs=()):
            state = {
                "address": "postgres://db.example/app?store=notes", "problem": problem, "edited": edited,
                "repairs": repairs,
            }
            browser.driver.execute_script("fakeServer.share(arguments[0])", state)

        browser.open(f"{self.address}?app#/food", "1")
        self.assertNotIn("shared", browser.text(".header"))
        share(None)
        browser.wait_for_text(".header .badge:not([hidden])", "shared")
        self.assertEqual(browser.texts(".banner"), [])
        share("the server does not answer", "food", "empty")
        browser.wait_for_text(".header .badge:not([hidden])", "shared, behind")
        browser.wait_for_text(".banner:not([hidden])", "does not follow the shared store: the server does not answer")
        browser.wait_for_text(".banner:not([hidden])", "edited files of “food”, “empty” yet")
        self.assertEqual(browser.serious_faults(), [])
        self.addCleanup(browser.look, 1280, 800, "light")
        browser.look(390, 720, "light")
        badge = browser.find(".header .badge:not([hidden])")
        self.assertGreater(badge.size["width"], 20)
        self.assertLessEqual(badge.rect["x"] + badge.rect["width"], 390)
        share("the file is broken", "food", repairs=[{"table": "food", "before": 60, "kept": 42}])
        browser.wait_for_text(".banner:not([hidden])", "finds 42 records in it; the shared store has 60.")
        browser.wait_for_text(".banner:not([hidden])", "If the file lacks a record of the shared store, “filedb repair”")
        share(None)
        browser.wait(lambda: not browser.texts(".banner"), "the banner stays")

    def test_the_page_works_on_the_fake_server(self):
        browser = self.browser
        browser.open(f"{self.address}?app#/food", "1")
        browser.double_click(browser.cell("1", "name"))
        browser.keys((Keys.CONTROL, "a"), "Red rice", Keys.ENTER)
        browser.wait_for_cell("1", "name", "Red rice")
        browser.keys((Keys.CONTROL, "z"))
        browser.wait_for_cell("1", "name", "Brown rice")
