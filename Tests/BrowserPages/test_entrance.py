"""Who is let in: the tab that opened the address, those that it opens, and no other."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from support import BrowseTest, Keys, Server, filedb


class EntranceTest(BrowseTest):
    def base(self):
        return self.server.address.split("#")[0]

    def assert_no_access(self):
        self.browser.wait_for_text("main", "no access to the store")
        self.assertIn("duplicate the first one", self.browser.text("main"))
        self.assertEqual(self.browser.serious_faults(), [])

    def test_the_token_leaves_the_address_and_there_is_no_cookie(self):
        self.open()
        driver = self.browser.driver
        self.assertEqual(driver.current_url, f"{self.base()}#/food")
        self.assertEqual(driver.get_cookies(), [])
        self.assertEqual(driver.execute_script("return [document.cookie, localStorage.length]"), ["", 0])
        history = driver.execute_cdp_cmd("Page.getNavigationHistory", {})["entries"]
        self.assertNotIn("token", "".join(entry["url"] for entry in history))

    def test_a_tab_that_is_loaded_again_keeps_its_access(self):
        self.open()
        browser = self.browser
        # Also if somebody goes back to the printed address.
        for address in (None, self.base(), self.server.address):
            browser.driver.get(address) if address else browser.driver.refresh()
            browser.cell("1")
        browser.double_click(browser.cell("1", "name"))
        browser.keys((Keys.CONTROL, "a"), "Wild rice", Keys.ENTER)
        browser.wait_for_cell("1", "name", "Wild rice")
        self.assertEqual(self.field("1", "name"), "Wild rice")

    def test_another_tab_says_how_to_open_one(self):
        self.open()
        browser = self.browser
        for address in (self.base(), self.server.address, f"{self.base()}#token={'0' * 64}/food"):
            browser.new_tabs(lambda: browser.driver.switch_to.new_window("tab"))
            browser.driver.get(address)
            self.assert_no_access()

    def test_a_tab_without_access_takes_the_address(self):
        browser = self.browser
        browser.driver.get(self.base())
        self.assert_no_access()
        self.open()

    def test_a_table_opens_in_a_new_tab(self):
        filedb(self.store, "create", "other")
        filedb(self.store, "add", "other", "name=Tea")
        self.open()
        browser = self.browser
        first = browser.driver.current_window_handle
        link = '.tables a[href="#/other"]'
        middle = """
          const press = { bubbles: true, cancelable: true, button: 1 };
          document.querySelector(arguments[0]).dispatchEvent(new PointerEvent('auxclick', press));"""
        for press in (
            lambda: browser.click(browser.find(link), Keys.CONTROL),
            lambda: browser.driver.execute_script(middle, link),
        ):
            browser.driver.switch_to.window(first)
            browser.new_tabs(press)
            browser.wait_for_cell("1", "name", "Tea")

    def test_a_file_of_the_user_leads_the_browser_to_the_page(self):
        opened = self.store / "opened"
        program = self.store / "browser"
        program.write_text(f"#!/bin/sh\necho \"$1\" > '{opened}.part' && mv '{opened}.part' '{opened}'\n")
        program.chmod(0o700)
        server = Server(self.store, "food", browser=program)
        self.addCleanup(server.stop)
        self.browser.wait(opened.exists, "no browser is opened")
        self.browser.open(f"file://{opened.read_text().strip()}", "1")
        self.assertTrue(self.browser.driver.current_url.endswith("/#/food"))

    def test_servers_on_other_ports_are_told_nothing(self):
        requests = []

        class Stranger(BaseHTTPRequestHandler):
            def do_GET(self):
                # Its own page is the one that refers to its picture.
                if self.path == "/":
                    requests.append(str(self.headers))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *arguments):
                pass

        stranger = ThreadingHTTPServer(("127.0.0.1", 0), Stranger)
        threading.Thread(target=stranger.serve_forever, daemon=True).start()
        self.addCleanup(stranger.server_close)
        self.addCleanup(stranger.shutdown)
        self.open()
        address = f"http://127.0.0.1:{stranger.server_port}/"
        self.browser.driver.execute_script("location.href = arguments[0]", address)
        self.browser.wait(lambda: requests, "the page is not visited")
        for name in ("Cookie", "Authorization", "Referer", "token"):
            self.assertNotIn(name, "".join(requests))
