"""Values that are refused: they stay at their cells, and hold up nothing else."""

from support import BrowseTest, Keys, filedb


class RefusedTest(BrowseTest):
    def fill(self):
        super().fill()
        filedb(self.store, "create", "notes")
        filedb(self.store, "add", "notes", "title=Buy milk")

    def refuse(self, id="2"):
        """Writes what is no whole number, and leaves the cell."""
        browser = self.browser
        browser.double_click(browser.cell(id, "kcal"))
        browser.keys((Keys.CONTROL, "a"), "12,5")
        browser.click(browser.cell("7", "name"))
        browser.wait_for_text(".cell-problem", "not a whole number")
        return browser

    def test_other_cells_are_edited_meanwhile(self):
        self.open()
        browser = self.refuse()
        browser.double_click(browser.cell("7", "name"))
        browser.keys((Keys.CONTROL, "a"), "Carrots", Keys.ENTER)
        browser.wait_for_cell("7", "name", "Carrots")
        self.assertEqual(browser.find(".cell-editor input").get_property("value"), "12,5")
        # A second one does not replace the first.
        self.refuse("4")
        self.assertEqual(len(browser.all(".cell-editor.is-wrong")), 2)
        browser.wait_for_text(".status-refused", "2 values are not saved")

    def test_it_is_said_in_view_after_scrolling(self):
        self.open()
        browser = self.refuse()
        browser.keys((Keys.CONTROL, Keys.END))
        browser.cell("76")
        browser.wait_for_text(".status-refused", "kcal, record 2. This is not a whole number.")
        browser.click(browser.button("Show", inside=".status-refused"))
        browser.wait_for_focus_in(".cell-editor")
        self.assertIn("2", browser.ids())
        browser.keys((Keys.CONTROL, "a"), "265", Keys.ENTER)
        browser.wait_for_cell("2", "kcal", "265")
        browser.wait(lambda: not browser.find(".status-refused").is_displayed(), "it is still said")

    def test_it_is_kept_while_another_table_is_shown(self):
        self.open()
        browser = self.refuse()
        browser.click(browser.find('.tables a[href="#/notes"]'))
        browser.wait_for_cell("1", "title", "Buy milk")
        browser.click(browser.find('.tables a[href="#/food"]'))
        browser.wait_for_cell("1", "name", "Brown rice")
        self.assertEqual(browser.find(".cell-editor input").get_property("value"), "12,5")
        browser.wait_for_text(".cell-problem", "not a whole number")

    def test_it_follows_its_record(self):
        self.open()
        browser = self.refuse()
        filedb(self.store, "add", "food", "name=Quince", "--top")
        browser.wait_for_ids("77", "1", "2")
        top = lambda node: node.location["y"]
        browser.wait(
            lambda: abs(top(browser.find(".cell-editor")) - top(browser.cell("2", "kcal"))) < 3, "it is elsewhere")
        # A filter hides the record, and not what was typed for it.
        browser.write('[aria-label="Filter"]', "name = 'Honey'")
        browser.wait_for_ids("4")
        browser.wait_for_text(".status-refused", "record 2")
        browser.click(browser.button("Give up"))
        browser.gone(".cell-editor")

    def test_it_is_shown_in_a_column_that_was_hidden(self):
        self.open()
        browser = self.refuse()
        browser.click(browser.button("Columns"))
        browser.click(browser.button("kcal", inside=".menu"))
        browser.gone('[data-column="kcal"]')
        browser.click(browser.button("Show", inside=".status-refused"))
        browser.find('[data-column="kcal"]')
        browser.wait_for_focus_in(".cell-editor")
        self.assertEqual(browser.find(".cell-editor input").get_property("value"), "12,5")

    def break_file(self):
        """Takes the end off the table's file, and returns its former text."""
        file = self.store / "food.plist"
        text = file.read_text()
        file.write_text(text.replace("</plist>", ""))
        self.browser.wait_for_text(".broken", "cannot be read")
        return text

    def test_it_is_kept_while_the_file_is_broken(self):
        self.open()
        browser = self.refuse()
        self.break_file()
        browser.wait_for_text(".status-refused", "kcal, record 2. This is not a whole number.")
        self.assertEqual(browser.text(".header .count"), "")
        browser.click(browser.button("Show", inside=".status-refused"))
        browser.notice("What you typed is kept")
        browser.click(browser.button("Repair it now"))
        browser.wait_for_cell("1", "name", "Brown rice")
        browser.wait_for_text(".header", "76 records")
        browser.wait_for_text(".cell-problem", "not a whole number")
        browser.click(browser.button("Show", inside=".status-refused"))
        browser.wait_for_focus_in(".cell-editor")
        browser.keys((Keys.CONTROL, "a"), "125", Keys.ENTER)
        browser.wait_for_cell("2", "kcal", "125")
        self.assertEqual(self.field("2", "kcal"), "125")

    def test_it_is_given_up_while_the_file_is_broken(self):
        self.open()
        browser = self.refuse()
        text = self.break_file()
        browser.click(browser.button("Give up"))
        browser.wait(lambda: not browser.find(".status-refused").is_displayed(), "it is still said")
        (self.store / "food.plist").write_text(text)
        browser.wait_for_cell("1", "name", "Brown rice")
        browser.gone(".cell-editor")

    def test_escape_gives_it_up(self):
        self.open()
        browser = self.refuse()
        browser.keys(Keys.ESCAPE)
        browser.gone(".cell-editor")
        self.assertFalse(browser.find(".status-refused").is_displayed())
        self.assertNotEqual(self.field("2", "kcal"), "12,5")
        # And in the cell itself.
        browser.double_click(browser.cell("2", "kcal"))
        browser.keys("x", Keys.ENTER, Keys.ESCAPE)
        browser.gone(".cell-editor")
        browser.wait_for_focus("2", "kcal")
