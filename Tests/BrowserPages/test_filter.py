"""The filter, its help, and its mistakes."""

from support import BrowseTest, Keys, filedb


class FilterTest(BrowseTest):
    def test_records_are_filtered(self):
        self.open()
        browser = self.browser
        browser.write('[aria-label="Filter"]', "group == 'Fruit' AND kcal < 50")
        browser.wait_for_text(".status", "Record 1 of 3")
        for id in browser.ids():
            self.assertEqual(browser.cell(id, "group").text, "Fruit")
        browser.find('[aria-label="Filter"]').send_keys(Keys.ESCAPE)
        browser.wait_for_ids("1", "2", "3")

    def test_what_takes_long_is_said_and_stopped(self):
        self.open()
        browser = self.browser
        browser.hold_requests()
        search = browser.write('[type="search"]', "hon")
        browser.wait_for_request()
        search.send_keys("ey")  # This waits, and is not read after the stop, either.
        browser.wait_for_text(".working", "Reading")
        browser.click(browser.button("Stop reading"))
        browser.release_requests()
        browser.notice("Stopped reading. The list is still the one from before.")
        browser.wait(lambda: not browser.find(".working").is_displayed(), "it is still said")
        self.assertEqual(browser.all(".notice.is-problem"), [])
        self.assertEqual(browser.ids()[:2], ["1", "2"])
        browser.click(browser.button("Read again"))
        browser.wait_for_ids("4")
        browser.write('[type="search"]', "feta")
        browser.wait_for_ids("2")

    def test_a_filter_that_is_stopped_is_no_mistake(self):
        self.open()
        browser = self.browser
        browser.hold_requests(to="/api/predicate")
        where = browser.write('[aria-label="Filter"]', "name = 'Feta'")
        browser.wait_for_request()
        browser.click(browser.button("Stop reading"))
        browser.release_requests()
        browser.wait_for_text(".filter-problem", "Stopped. Press Enter to apply the filter.")
        self.assertIsNone(where.get_attribute("aria-invalid"))
        self.assertEqual(browser.texts(".notice"), [])
        where.send_keys(Keys.ENTER)
        browser.wait_for_ids("2")
        self.assertEqual(browser.text(".filter-problem"), "")

    def test_a_table_whose_first_reading_is_stopped_is_read_again(self):
        self.open()
        browser = self.browser
        filedb(self.store, "create", "notes")
        filedb(self.store, "add", "notes", "title=Buy milk")
        # A change that the page hears of later would make it read again.
        browser.wait_for_text('.tables a[href="#/notes"]', "1")
        link = browser.find('.tables a[href="#/notes"]')
        browser.hold_requests(to="/notes")
        browser.click(link)
        browser.wait_for_request()
        browser.click(browser.button("Stop reading"))
        browser.release_requests()
        browser.wait_for_text(".main", "Nothing has been read")
        # Until then, the button may still move.
        browser.wait(lambda: not browser.find(".working").is_displayed(), "it is still said")
        self.assertEqual(browser.texts(".notice"), [])
        browser.click(browser.button("Read again"))
        browser.wait_for_cell("1", "title", "Buy milk")
        self.assertNotIn("Nothing has been read", browser.text(".main"))

    def test_a_mistake_is_underlined_at_its_place(self):
        self.open()
        browser = self.browser
        browser.write('[aria-label="Filter"]', "kcal << 50")
        browser.wait(lambda: browser.text(".filter-problem") != "", "no mistake is said")
        mark = browser.find(".filter-mirror mark")
        self.assertIn(mark.get_property("textContent"), ("<", "<<"))
        self.assertEqual(browser.find('[aria-label="Filter"]').get_attribute("aria-invalid"), "")
        browser.write('[aria-label="Filter"]', "kcal < 50")
        browser.wait(lambda: browser.text(".filter-problem") == "", "the mistake stays")

    def test_a_field_that_no_record_has_is_said(self):
        self.open()
        browser = self.browser
        browser.write('[aria-label="Filter"]', "kcl < 50")
        browser.wait_for_text(".filter-problem", "Did you mean kcal?")
        self.assertEqual(browser.find(".filter-mirror mark").get_property("textContent"), "kcl")

    def test_help_says_how_dates_are_written(self):
        self.open()
        browser = self.browser
        browser.click(browser.button("Help for filters"))
        browser.wait_for_text(".filter-help", "A date is in your time zone, Europe/Vienna, unless you write another")

    def test_help_puts_words_in(self):
        self.open()
        browser = self.browser
        browser.click(browser.button("Help for filters"))
        browser.wait_for_text(".filter-help", "kcal")
        browser.click(browser.that_says("kcal", ".chip"))
        browser.keys("> 700")
        count = filedb(self.store, "count", "food", "--where", "kcal > 700").strip()
        browser.wait_for_text(".status", f"Record 1 of {count}")
        self.assertEqual(browser.find('[aria-label="Filter"]').get_property("value"), "kcal > 700")
