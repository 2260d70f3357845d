"""Stores that are empty, broken, read only, or full of what looks like HTML."""

from support import BrowseTest, Keys, filedb


class EmptyStoreTest(BrowseTest):
    def fill(self):
        pass

    def test_it_says_what_to_do(self):
        self.browser.open(self.server.address)
        browser = self.browser
        browser.wait_for_text(".empty", "No tables yet")
        browser.click(browser.button("New table", inside=".empty"))
        browser.write("dialog input", "todo")
        browser.keys(Keys.ENTER)
        browser.wait_for_text(".empty", "No records yet")
        browser.click(browser.button("Add record", inside=".empty"))
        browser.click(browser.find("dialog .dialog-content > .button"))
        browser.keys("title", Keys.TAB, Keys.TAB, Keys.TAB, "Buy milk")
        browser.click(browser.button("Add", inside="dialog footer"))
        browser.wait_for_cell("1", "title", "Buy milk")


class BrokenTableTest(BrowseTest):
    def fill(self):
        super().fill()
        file = self.store / "food.plist"
        text = file.read_text()
        file.write_text(text.replace("<key>wgFileDbSecretId</key>\n\t\t\t<string>3</string>", "", 1))

    def check(self):
        filedb(self.store, "check")

    def test_it_is_repaired_after_showing_what_that_does(self):
        self.browser.open(self.server.address)
        browser = self.browser
        browser.wait_for_text(".broken", "cannot be read")
        browser.wait_for_text(".problems", "line ")
        self.assertEqual(browser.serious_faults(), [])
        browser.wait_for_text(".outcome", "76 records stay. Nothing is lost.")
        # News of the store do not make the page anew.
        repair = browser.button("Repair it now")
        filedb(self.store, "create", "other")
        browser.wait_for_text(".tables", "other")
        browser.wait(lambda: browser.text(".report") != "", "no report")
        self.assertIn("It cannot be undone", browser.text(".broken"))
        browser.click(repair)
        browser.wait_for_cell("1", "name", "Brown rice")
        browser.notice("The original is kept as")
        browser.wait_for_text(".header", "76 records")


class TornTableTest(BrowseTest):
    """A file that ends in the middle."""

    def fill(self):
        super().fill()
        file = self.store / "food.plist"
        text = file.read_text()
        file.write_text(text[: len(text) // 2])

    def check(self):
        pass

    def test_it_says_what_stays_and_what_goes(self):
        self.browser.open(self.server.address)
        browser = self.browser
        browser.wait_for_text(".outcome", "records stay. ")
        kept = int(browser.text(".outcome").split()[0])
        self.assertTrue(0 < kept < 76)
        self.assertIn("cannot be read and goes; it may have held many records", browser.text(".outcome"))
        self.assertNotIn("Nothing is lost", browser.text(".broken"))
        browser.click(browser.button("Repair it now"))
        browser.wait_for_text(".header", f"{kept} records")


class HopelessTableTest(BrowseTest):
    def fill(self):
        super().fill()
        (self.store / "food.plist").write_text("This was a table once.\n")

    def check(self):
        pass

    def test_it_says_why_nothing_can_be_repaired(self):
        self.browser.open(self.server.address)
        browser = self.browser
        browser.wait_for_text(".outcome", "A repair is not possible here: ")
        self.assertEqual(browser.texts(".broken button"), [])


class BreakingTableTest(BrowseTest):
    def test_a_table_that_breaks_and_is_whole_again_is_shown_so(self):
        self.open()
        browser = self.browser
        file = self.store / "food.plist"
        text = file.read_text()
        file.write_text(text.replace("</plist>", ""))
        browser.wait_for_text(".broken", "cannot be read")
        file.write_text(text)
        browser.wait_for_cell("1", "name", "Brown rice")


    def test_a_record_that_somebody_deleted_is_not_called_lost(self):
        self.open()
        file = self.store / "food.plist"
        text = file.read_text()
        begin = text.index("<dict>", text.index("<array>"))
        without = text[:begin] + text[text.index("</dict>", begin) + len("</dict>"):]
        file.write_text(without.replace("</plist>", ""))
        self.browser.wait_for_text(".outcome", "75 records stay. Nothing is lost.")
        file.write_text(text)
        self.browser.wait_for_cell("1", "name", "Brown rice")


class TearingTableTest(BrowseTest):
    def check(self):
        pass

    def test_it_says_how_many_records_stay_and_go(self):
        self.open()
        browser = self.browser
        file = self.store / "food.plist"
        text = file.read_text()
        file.write_text(text[: len(text) // 2])
        browser.wait_for_text(".outcome", "records stay, ")
        self.assertIn("a page last saw 76. Only the copy keeps what goes.", browser.text(".outcome"))
        kept, lost = (int(word) for word in browser.text(".outcome").split() if word.isdigit())
        self.assertEqual(kept + lost, 76)
        browser.click(browser.button("Repair it now"))
        browser.wait_for_text(".header", f"{kept} records")


class ReadOnlyTest(BrowseTest):
    arguments = ("--read-only",)

    def test_nothing_can_be_changed(self):
        self.open()
        browser = self.browser
        browser.wait_for_text(".header", "read only")
        shown = lambda: browser.texts(".toolbar .button")
        self.assertEqual(shown(), ["Columns", "Copy", "Print"])
        browser.click(browser.find('.row[data-id="1"] .tick'))
        browser.wait_for_text(".toolbar", "1 selected")
        self.assertEqual(shown(), ["Open", "Copy", ""])
        browser.keys(Keys.ESCAPE)
        browser.double_click(browser.cell("1", "name"))
        browser.keys("x", Keys.DELETE)
        browser.notice("read-only here")
        self.assertEqual(browser.all(".cell-editor"), [])
        self.assertEqual(self.order(1), ["1"])


class HostileStoreTest(BrowseTest):
    """Names and values that would be markup if anything read them as markup."""

    attack = "<img src=x onerror=\"document.title='broken in'\"><script>document.title='broken in'</script>"

    def fill(self):
        filedb(self.store, "create", "a<b>&amp;")
        filedb(
            self.store,
            "add",
            "a<b>&amp;",
            f"name={self.attack}",
            f"list:json=[\"{self.attack.replace(chr(34), chr(39))}\"]",
        )

    def test_markup_stays_text(self):
        self.open()
        browser = self.browser
        self.assertEqual(browser.cell("1", "name").text, self.attack)
        self.assertEqual(browser.text(".title"), "a<b>&amp;")
        browser.click(browser.cell("1", "name"))
        browser.keys((Keys.SHIFT, Keys.ENTER))
        browser.find("dialog.is-sheet")
        browser.keys(Keys.ESCAPE)
        browser.write('[type="search"]', self.attack)
        browser.wait_for_ids("1")
        browser.write('[aria-label="Filter"]', self.attack)
        browser.wait(lambda: browser.text(".filter-problem") != "", "no mistake is said")
        filedb(self.store, "set", "a<b>&amp;", "1", f"name={self.attack}!")
        browser.notice("changed elsewhere")
        self.assertEqual(browser.all("img"), [])
        self.assertNotIn("broken in", browser.driver.title)
