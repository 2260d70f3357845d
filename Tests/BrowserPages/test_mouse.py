"""A whole session with the mouse."""

from support import BrowseTest, Keys, filedb


class MouseTest(BrowseTest):
    def test_fields_are_edited_in_place(self):
        self.open()
        browser = self.browser
        browser.double_click(browser.cell("2", "name"))
        browser.keys((Keys.CONTROL, "a"), "Feta from Lesbos")
        browser.click(browser.cell("4", "kcal"))
        browser.wait_for_cell("2", "name", "Feta from Lesbos")
        self.assertEqual(self.field("2", "name"), "Feta from Lesbos")

    def test_what_is_not_a_number_is_said_at_its_cell(self):
        self.open()
        browser = self.browser
        browser.double_click(browser.cell("2", "kcal"))
        browser.keys("many", Keys.ENTER)
        browser.wait_for_text(".cell-problem", "not a whole number")
        browser.keys((Keys.CONTROL, "a"), "265", Keys.ENTER)
        browser.wait_for_cell("2", "kcal", "265")
        self.assertEqual(self.field("2", "kcal"), "265")

    def test_records_are_added_duplicated_and_deleted(self):
        self.open()
        browser = self.browser
        browser.click(browser.cell("2", "name"))
        browser.click(browser.button("Add record"))
        browser.write('dialog [data-field="name"] textarea', "Quark")
        browser.write('dialog [data-field="kcal"] input', "67")
        browser.click(browser.button("Add", inside="dialog footer"))
        browser.wait_for_ids("1", "2", "77", "3")
        browser.wait_for_cell("77", "kcal", "67")
        browser.click(browser.find('.row[data-id="77"] .tick'))
        browser.click(browser.button("Duplicate"))
        browser.wait_for_ids("1", "2", "77", "78", "3")

        browser.click(browser.find('.row[data-id="78"] .tick'))
        browser.wait_for_text(".toolbar", "2 selected")
        browser.click(browser.button("Delete"))
        browser.notice("Deleted 2 records")
        browser.wait_for_ids("1", "2", "3")
        browser.click(browser.button("Undo", inside=".notice"))
        browser.wait_for_ids("1", "2", "77", "78", "3")
        self.assertEqual(self.order(5), ["1", "2", "77", "78", "3"])

    def test_records_are_dragged(self):
        self.open()
        browser = self.browser
        self.drag("1", below="4")
        browser.wait_for_ids("2", "3", "4", "1", "5")
        self.assertEqual(self.order(5), ["2", "3", "4", "1", "5"])
        browser.click(browser.button("Undo", inside=".header"))
        browser.wait_for_ids("1", "2", "3", "4")
        browser.notice("Undone")
        browser.click(browser.button("Redo", inside=".header"))
        browser.wait_for_ids("2", "3", "4", "1")

    def test_selected_records_are_dragged_together(self):
        self.open()
        browser = self.browser
        browser.click(browser.find('.row[data-id="2"] .tick'))
        browser.click(browser.cell("4", "name"), Keys.SHIFT)
        browser.wait_for_text(".toolbar", "3 selected")
        self.drag("3", below="6")
        browser.wait_for_ids("1", "5", "6", "2", "3", "4", "7")
        self.assertIn("move of 3 records in food", filedb(self.store, "undo", "--list"))

    def test_selected_records_are_dropped_among_themselves(self):
        self.open()
        browser = self.browser
        for id in ("2", "4"):
            browser.click(browser.find(f'.row[data-id="{id}"] .tick'))
        self.drag("2", below="3")
        browser.wait_for_ids("1", "3", "2", "4", "5")

    def test_escape_ends_a_drag(self):
        self.open()
        browser = self.browser
        browser.hold(browser.find('.row[data-id="1"] .grip'))
        browser.point(browser.cell("4", "name"))
        browser.find(".drop-line")
        browser.keys(Keys.ESCAPE)
        browser.gone(".drop-line")
        browser.release()
        self.assertEqual(self.order(3), ["1", "2", "3"])

    def drag(self, id, below):
        self.browser.hold(self.browser.find(f'.row[data-id="{id}"] .grip'))
        self.browser.point(self.browser.cell(below, "name"), down=12)
        self.browser.find(".drop-line")
        self.browser.release()

    def test_records_are_sorted_for_a_look_and_to_stay(self):
        self.open()
        browser = self.browser
        head = browser.find('[data-column="kcal"]')
        browser.click(head)
        browser.wait_for_text(".status", "View sorted by kcal")
        ascending = browser.ids()[0]
        browser.click(browser.find('[data-column="kcal"]'))
        browser.wait_for_text(".status", "kcal, descending")
        browser.wait(lambda: browser.ids()[0] != ascending, "the order does not turn")
        self.assertEqual(self.order(1), ["1"])
        seen = browser.ids()[:3]
        browser.click(browser.button("Keep this order"))
        browser.notice("in the order of kcal, descending")
        browser.wait(lambda: browser.text(".status-sorted") == "", "the view is still sorted")
        self.assertEqual(self.order(3), seen)

    def test_an_order_is_kept_for_all_records_only_if_one_says_so(self):
        self.open()
        browser = self.browser
        browser.write('[aria-label="Filter"]', "group == 'Fruit'")
        count = filedb(self.store, "count", "food", "--where", "group == 'Fruit'").strip()
        browser.wait_for_text(".status", f"of {count}")
        browser.click(browser.find('[data-column="kcal"]'))
        browser.wait_for_text(".status", "View sorted by kcal")
        browser.click(browser.button("Keep this order"))
        browser.wait_for_text("dialog", "that you do not see now")
        browser.click(browser.button("Cancel"))
        browser.gone("dialog")
        self.assertEqual(self.order(3), ["1", "2", "3"])
        browser.click(browser.button("Keep this order"))
        browser.click(browser.button("Sort all 76 records"))
        browser.notice("All 76 records were sorted")
        self.assertNotEqual(self.order(3), ["1", "2", "3"])
        browser.click(browser.button("Undo", inside=".notice"))
        browser.notice("Undone: sort of food")
        self.assertEqual(self.order(3), ["1", "2", "3"])

    def test_a_sorted_look_is_not_dragged(self):
        self.open()
        browser = self.browser
        browser.click(browser.find('[data-column="name"]'))
        browser.wait_for_text(".status", "View sorted by name")
        browser.click(browser.find(f'.row[data-id="{browser.ids()[3]}"] .tick'))
        browser.click(browser.button("Move to"))
        browser.notice("Only the view is sorted")

    def test_search_and_what_is_not_found(self):
        self.open()
        browser = self.browser
        browser.write('[type="search"]', "honey")
        browser.wait_for_ids("4")
        browser.write('[type="search"]', "no such food")
        browser.wait_for_text(".empty", "No record matches")
        browser.click(browser.button("Show all records"))
        browser.wait_for_ids("1", "2", "3")

    def test_records_are_copied_and_pasted(self):
        self.open()
        browser = self.browser
        browser.driver.execute_cdp_cmd(
            "Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
        )
        browser.click(browser.find('.row[data-id="4"] .tick'))
        browser.click(browser.button("Copy"))
        browser.click(browser.button("Selected records as JSON"))
        browser.notice("Copied as JSON")
        self.assertIn('"Honey"', self.clipboard())
        browser.click(browser.button("Copy"))
        browser.click(browser.button("Selected records as CSV"))
        browser.notice("Copied as CSV")
        self.assertIn("Honey", self.clipboard())

        self.copy("name\tkcal\nQuince\t57\nMedlar\t53")
        browser.click(browser.cell("4", "name"))
        browser.keys((Keys.CONTROL, "v"))
        browser.wait_for_text("dialog", "Medlar")
        browser.click(browser.button("Paste", inside="dialog footer"))
        browser.notice("Pasted 2 records")
        browser.wait_for_ids("1", "2", "3", "4", "77", "78", "5")
        self.assertEqual(self.field("78", "kcal"), "53")

    def test_a_line_that_cannot_be_pasted_is_named(self):
        self.open()
        browser = self.browser
        browser.driver.execute_cdp_cmd(
            "Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
        )
        self.copy("name\tkcal\nQuince\t57\nMedlar\tmany")
        browser.click(browser.cell("4", "name"))
        browser.keys((Keys.CONTROL, "v"))
        browser.click(browser.button("Paste", inside="dialog footer"))
        browser.wait_for_text("dialog .problem", "many")
        browser.keys(Keys.ESCAPE)
        browser.gone("dialog")

    def clipboard(self):
        return self.browser.driver.execute_async_script(
            "navigator.clipboard.readText().then(arguments[0], arguments[0])"
        )

    def copy(self, text):
        script = "navigator.clipboard.writeText(arguments[0]).then(arguments[1], arguments[1])"
        self.browser.driver.execute_async_script(script, text)

    def test_tables_are_chosen_and_made(self):
        filedb(self.store, "create", "notes")
        filedb(self.store, "add", "notes", "title=Buy milk")
        self.open()
        browser = self.browser
        browser.click(browser.find('.tables a[href="#/notes"]'))
        browser.wait_for_cell("1", "title", "Buy milk")
        browser.click(browser.button("New table"))
        browser.write("dialog input", "ideas")
        browser.click(browser.button("Create"))
        browser.wait_for_text(".empty", "No records yet")
        self.assertIn("ideas", filedb(self.store, "tables"))
