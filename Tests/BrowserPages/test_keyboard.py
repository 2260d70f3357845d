"""A whole session with the keyboard alone."""

from support import BrowseTest, Keys, filedb


class KeyboardTest(BrowseTest):
    def enter_grid(self):
        """Goes by the Tab key from the top of the page to the first record."""
        self.open()
        browser = self.browser
        for _ in range(40):
            browser.keys(Keys.TAB)
            if browser.driver.execute_script("return Boolean(document.activeElement.closest('.grid'))"):
                return browser
        self.fail("the Tab key does not lead to the records")

    def test_one_goes_about_and_edits(self):
        browser = self.enter_grid()
        browser.keys((Keys.CONTROL, Keys.HOME))
        first = browser.focused()[1]
        browser.keys(Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
        browser.wait_for_focus("2")
        browser.keys(Keys.END, Keys.HOME, Keys.ARROW_RIGHT)
        browser.wait_for_focus("2", first)
        browser.keys((Keys.CONTROL, Keys.END))
        browser.wait_for_focus("76")
        browser.keys(Keys.PAGE_UP, (Keys.CONTROL, Keys.HOME))
        self.to("name")
        browser.keys("P", "i", "e", Keys.ENTER)
        browser.wait_for_cell("1", "name", "Pie")
        browser.wait_for_focus("1", "name")
        browser.keys(Keys.F2, "s", Keys.ESCAPE)
        browser.gone(".cell-editor")
        browser.keys(Keys.ENTER, Keys.END, "!", Keys.TAB)
        browser.wait_for_cell("1", "name", "Pie!")
        browser.wait(lambda: browser.focused()[1] not in ("name", None), "Tab does not lead to the next field")
        self.assertEqual(self.field("1", "name"), "Pie!")

    def to(self, field):
        """Goes to a field of the record with the focus."""
        self.browser.keys(Keys.HOME)
        for _ in range(12):
            self.browser.keys(Keys.ARROW_RIGHT)
            if self.browser.focused()[1] == field:
                return
        self.fail(f"no field {field}")

    def test_records_are_moved(self):
        browser = self.enter_grid()
        browser.keys((Keys.CONTROL, Keys.HOME), (Keys.ALT, Keys.ARROW_DOWN), (Keys.ALT, Keys.ARROW_DOWN))
        browser.wait_for_ids("2", "3", "1", "4")
        browser.wait_for_focus("1")
        browser.keys((Keys.ALT, Keys.ARROW_UP))
        browser.wait_for_ids("2", "1", "3")
        browser.keys((Keys.ALT, "m"))
        browser.find("dialog")
        browser.keys(Keys.END, Keys.ARROW_UP, Keys.ARROW_UP, Keys.TAB, "5", Keys.ENTER)
        browser.gone("dialog")
        browser.wait_for_ids("2", "3", "4", "5", "1", "6")
        self.assertEqual(self.order(5), ["2", "3", "4", "5", "1"])
        browser.keys((Keys.CONTROL, "z"))
        browser.notice("Undone")
        browser.wait_for_ids("2", "1", "3")
        browser.keys((Keys.CONTROL, Keys.SHIFT, "z"))
        browser.wait_for_ids("2", "3", "4", "5", "1")

    def test_records_are_selected_duplicated_deleted_and_added(self):
        browser = self.enter_grid()
        browser.keys((Keys.CONTROL, Keys.HOME), Keys.ARROW_DOWN, (Keys.SHIFT, Keys.ARROW_DOWN))
        browser.wait_for_text(".toolbar", "2 selected")
        browser.keys((Keys.CONTROL, "d"))
        browser.notice("Duplicated 2 records")
        browser.keys(Keys.HOME, Keys.DELETE)
        browser.notice("Deleted 2 records")
        browser.wait(lambda: "2" not in browser.ids()[:4], "record 2 is still there")
        browser.keys((Keys.CONTROL, "a"))
        browser.wait_for_text(".toolbar", "76 selected")
        browser.keys(Keys.ESCAPE)
        browser.wait(lambda: "selected" not in browser.text(".toolbar"), "records are still selected")
        browser.keys(Keys.INSERT)
        browser.find("dialog.is-sheet")
        browser.find('dialog [data-field="kcal"] input').send_keys("x", (Keys.CONTROL + Keys.ENTER))
        browser.wait_for_text("dialog form > .problem", "not a whole number")
        browser.keys(Keys.ESCAPE)
        browser.wait_for_text("dialog form > .problem", "Escape again")
        browser.keys(Keys.ESCAPE)
        browser.gone("dialog")

    def test_delete_empties_a_field_and_deletes_a_record_only_on_its_id(self):
        browser = self.enter_grid()
        browser.keys((Keys.CONTROL, Keys.HOME))
        self.to("note")
        browser.keys(Keys.DELETE)
        browser.wait_for_cell("1", "note", "")
        browser.wait(lambda: "note" not in filedb(self.store, "get", "food", "1"), "the field is still there")
        browser.wait_for_text(".header", "76 records")
        browser.keys(Keys.HOME, Keys.DELETE)
        browser.notice("Deleted 1 record")
        browser.wait_for_ids("2", "3")

    def test_a_record_is_opened_and_its_fields_changed(self):
        browser = self.enter_grid()
        browser.keys((Keys.CONTROL, Keys.HOME), (Keys.SHIFT, Keys.ENTER))
        note = browser.find('dialog [data-field="note"] textarea')
        note.send_keys(" for long", (Keys.CONTROL + Keys.ENTER))
        browser.gone("dialog")
        browser.wait_for_cell("1", "note", "boiled for long")
        self.assertEqual(self.field("1", "note"), "boiled for long")

    def test_columns_are_sorted_from_the_head(self):
        browser = self.enter_grid()
        browser.keys((Keys.CONTROL, Keys.HOME))
        self.to("kcal")
        browser.keys(Keys.ARROW_UP, Keys.ENTER)
        browser.wait_for_text(".status", "View sorted by kcal")
        self.assertEqual(browser.find('[data-column="kcal"]').get_attribute("aria-sort"), "ascending")

    def test_a_field_is_copied(self):
        browser = self.enter_grid()
        permissions = ["clipboardReadWrite", "clipboardSanitizedWrite"]
        browser.driver.execute_cdp_cmd("Browser.grantPermissions", {"permissions": permissions})
        browser.keys((Keys.CONTROL, Keys.HOME))
        self.to("name")
        browser.keys((Keys.CONTROL, "c"))
        browser.notice("Copied the field")
        read = "navigator.clipboard.readText().then(arguments[0], arguments[0])"
        self.assertEqual(browser.driver.execute_async_script(read), "Brown rice")

    def test_the_keys_are_listed(self):
        browser = self.enter_grid()
        browser.keys(Keys.F1)
        browser.wait_for_text("dialog", "Alt + Up")
        browser.keys(Keys.ESCAPE)
        browser.gone("dialog")
