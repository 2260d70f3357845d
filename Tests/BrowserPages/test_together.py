"""Several programs at once: what others change, and a server that goes and comes."""

from support import BrowseTest, Keys, Server, filedb, held_port


class TogetherTest(BrowseTest):
    def test_changes_of_another_program_appear_marked(self):
        self.open()
        browser = self.browser
        filedb(self.store, "set", "food", "3", "kcal:integer=999")
        browser.wait_for_cell("3", "kcal", "999")
        browser.find('.row.is-marked[data-id="3"]')
        browser.notice("changed elsewhere")

    def test_the_place_stays_when_records_come_above(self):
        self.open()
        browser = self.browser
        browser.click(browser.cell("1", "name"))
        browser.keys((Keys.CONTROL, Keys.END))
        browser.cell("76")
        seen = browser.ids()[2:8]
        filedb(self.store, "add", "food", "name=Quince", "--top")
        browser.wait_for_text(".header", "77 records")
        browser.wait(lambda: seen[0] in browser.ids()[:4], "the place moved")
        browser.wait_for_focus("76")

    def test_a_jump_to_the_beginning_while_a_change_is_read_stays_there(self):
        self.open()
        browser = self.browser
        browser.scroll(1)
        browser.cell("76")
        browser.hold_requests()
        filedb(self.store, "add", "food", "name=Quince", "--top")
        browser.wait_for_request()
        browser.scroll(0)
        browser.wait_for_ids("1", "2", "3")
        browser.release_requests()
        browser.wait_for_text(".header", "77 records")
        browser.wait_for_ids("77", "1", "2")

    def test_what_is_edited_stays_while_others_change_records(self):
        self.open()
        browser = self.browser
        browser.double_click(browser.cell("3", "name"))
        browser.keys((Keys.CONTROL, "a"), "Red lentils")
        filedb(self.store, "add", "food", "name=Quince", "--top")
        browser.wait_for_ids("77", "1", "2", "3")
        browser.wait_for_text(".header", "77 records")
        browser.keys(Keys.ENTER)
        browser.wait_for_cell("3", "name", "Red lentils")
        self.assertEqual(self.field("3", "name"), "Red lentils")

    def edit_what_another_changes(self):
        self.open()
        browser = self.browser
        browser.double_click(browser.cell("2", "name"))
        browser.keys((Keys.CONTROL, "a"), "Mine")
        filedb(self.store, "set", "food", "2", "name=Theirs")
        browser.wait_for_cell("2", "name", "Theirs")
        browser.keys(Keys.ENTER)
        browser.wait_for_text("dialog", "Changed by somebody else")
        for text in ("Feta", "Theirs", "Mine"):
            self.assertIn(text, browser.text("dialog table"))
        return browser

    def test_a_conflict_is_settled_for_mine(self):
        browser = self.edit_what_another_changes()
        browser.click(browser.button("Keep mine"))
        browser.wait_for_cell("2", "name", "Mine")
        self.assertEqual(self.field("2", "name"), "Mine")

    def test_a_conflict_is_settled_for_theirs(self):
        browser = self.edit_what_another_changes()
        browser.click(browser.button("Keep theirs"))
        browser.gone(".cell-editor")
        browser.wait_for_cell("2", "name", "Theirs")
        self.assertEqual(self.field("2", "name"), "Theirs")

    def test_one_may_go_on_editing_after_a_conflict(self):
        browser = self.edit_what_another_changes()
        browser.keys(Keys.ESCAPE)
        browser.wait_for_text(".cell-problem", "somebody else")

    def test_a_record_that_was_deleted_can_come_back(self):
        self.open()
        browser = self.browser
        browser.double_click(browser.cell("2", "name"))
        browser.keys((Keys.CONTROL, "a"), "Feta after all")
        filedb(self.store, "delete", "food", "2")
        browser.gone('.row[data-id="2"]')
        browser.keys(Keys.ENTER)
        browser.wait_for_text("dialog", "Deleted by somebody else")
        browser.click(browser.button("Add it again"))
        browser.wait_for_text(".header", "76 records")
        self.assertEqual(self.field("77", "name"), "Feta after all")

    def test_a_record_that_is_deleted_elsewhere_is_no_longer_selected(self):
        self.open()
        browser = self.browser
        for id in ("2", "3"):
            browser.click(browser.find(f'.row[data-id="{id}"] .tick'))
        browser.wait_for_text(".toolbar", "2 selected")
        filedb(self.store, "delete", "food", "2")
        browser.wait_for_text(".toolbar", "1 selected")
        browser.click(browser.button("Duplicate"))
        browser.notice("Duplicated 1 record")
        self.assertEqual(self.field("77", "name"), self.field("3", "name"))

    def delete_here(self):
        self.open()
        browser = self.browser
        browser.click(browser.find('.row[data-id="2"] .tick'))
        browser.click(browser.button("Delete"))
        browser.notice("Deleted 1 record")
        return browser

    def delete_here_and_change_elsewhere(self):
        browser = self.delete_here()
        filedb(self.store, "create", "other")
        filedb(self.store, "add", "other", "name=Tea")
        browser.wait_for_text(".tables", "other")
        return browser

    def test_undo_in_a_message_undoes_what_the_message_says(self):
        browser = self.delete_here_and_change_elsewhere()
        browser.click(browser.button("Undo", inside=".notice"))
        browser.wait_for_ids("1", "2", "3")
        browser.notice("What somebody else did since stays")
        self.assertEqual(filedb(self.store, "count", "other").strip(), "1")

    def test_undo_in_a_message_goes_away_with_its_step(self):
        browser = self.delete_here_and_change_elsewhere()
        filedb(self.store, "undo", "3")
        browser.wait_for_ids("1", "2", "3")
        browser.wait(lambda: "Undo" not in browser.texts(".notice .button .label"), "the button stays")

    def test_undo_in_a_message_goes_away_when_the_header_undoes_the_step(self):
        browser = self.delete_here()
        browser.click(browser.button("Undo", inside=".header-tools"))
        browser.wait_for_ids("1", "2", "3")
        browser.wait(lambda: "Undo" not in browser.texts(".notice .button .label"), "the button stays")

    def test_control_z_takes_back_a_table_that_this_page_made(self):
        self.open()
        browser = self.browser
        browser.click(browser.button("New table"))
        browser.write("dialog input", "ideas")
        browser.keys(Keys.ENTER)
        browser.wait_for_text(".title", "ideas")
        browser.click(browser.find(".main"))
        browser.keys((Keys.CONTROL, "z"))
        browser.notice("Undone: creation of ideas")
        browser.wait(lambda: "ideas" not in browser.text(".sidebar"), "the table stays")

    def test_control_z_takes_back_what_this_page_did(self):
        browser = self.delete_here_and_change_elsewhere()
        browser.click(browser.cell("3", "name"))
        browser.keys((Keys.CONTROL, "z"))
        browser.wait_for_ids("1", "2", "3")
        self.assertEqual(filedb(self.store, "count", "other").strip(), "1")
        # Only somebody else's steps are left: they are named, and not undone unasked.
        browser.keys((Keys.CONTROL, "z"))
        browser.notice("Not done on this page: addition of 1 record to other")
        self.assertEqual(filedb(self.store, "count", "other").strip(), "1")
        browser.click(browser.button("Undo it"))
        browser.notice("Undone: addition of 1 record to other")
        self.assertEqual(filedb(self.store, "count", "other").strip(), "0")

    def test_two_tabs_see_each_other(self):
        self.open()
        browser = self.browser
        first = browser.driver.current_window_handle
        browser.new_tabs(lambda: browser.click(browser.find(".tables a"), Keys.CONTROL))
        browser.double_click(browser.cell("1", "name"))
        browser.keys((Keys.CONTROL, "a"), "Wild rice", Keys.ENTER)
        browser.wait_for_cell("1", "name", "Wild rice")
        browser.driver.switch_to.window(first)
        browser.wait_for_cell("1", "name", "Wild rice")

    def test_more_tabs_than_a_browser_has_connections_are_told_of_changes(self):
        self.open()
        browser = self.browser
        browser.new_tabs(lambda: browser.driver.execute_script("for (let n = 0; n < 7; n++) window.open(location)"), 7)
        browser.cell("1")
        filedb(self.store, "set", "food", "1", "name=Red rice")
        for tab in browser.driver.window_handles:
            browser.driver.switch_to.window(tab)
            browser.wait_for_cell("1", "name", "Red rice")

    def test_changes_are_told_without_a_shared_worker(self):
        cdp = self.browser.driver.execute_cdp_cmd
        added = cdp("Page.addScriptToEvaluateOnNewDocument", {"source": "delete globalThis.SharedWorker"})
        self.addCleanup(cdp, "Page.removeScriptToEvaluateOnNewDocument", added)
        self.open()
        filedb(self.store, "set", "food", "1", "name=Red rice")
        self.browser.wait_for_cell("1", "name", "Red rice")


class ReconnectionTest(BrowseTest):
    def setUp(self):
        port = held_port()
        self.addCleanup(port.close)
        self.arguments = ("--port", str(port.getsockname()[1]))
        super().setUp()

    def test_a_restart_is_said_and_the_new_address_makes_it_good(self):
        self.open()
        browser = self.browser
        self.server.stop()
        browser.wait_for_text(".banner", "does not answer")
        filedb(self.store, "set", "food", "1", "name=Red rice")
        self.server = Server(self.store, *self.arguments)
        browser.wait_for_text(".banner", "was restarted")
        # What a browser does with the tabs that it had open when it ended.
        browser.driver.refresh()
        browser.wait_for_text(".banner", "was restarted")
        self.open()
        browser.wait(lambda: not browser.find(".banner").is_displayed(), "the banner stays")
        browser.wait_for_cell("1", "name", "Red rice")
        browser.double_click(browser.cell("1", "name"))
        browser.keys((Keys.CONTROL, "a"), "Black rice", Keys.ENTER)
        browser.wait_for_cell("1", "name", "Black rice")
        self.assertEqual(self.field("1", "name"), "Black rice")
