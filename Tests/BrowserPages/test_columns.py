"""The widths of columns, by mouse and by keyboard."""

from support import ActionChains, BrowseTest, Keys


class ColumnsTest(BrowseTest):
    def test_a_column_is_dragged_wider_and_stays_so(self):
        self.open()
        browser = self.browser
        before = self.width("name")
        edge = browser.find('[data-column="name"] .column-edge')
        ActionChains(browser.driver, duration=0).drag_and_drop_by_offset(edge, 60, 0).perform()
        browser.wait(lambda: self.width("name") == before + 60, "the column is not wider")
        self.assertEqual(browser.cell("2", "name").size["width"], before + 60)
        # The edge is no place to sort by.
        self.assertEqual(browser.text(".status-sorted"), "")
        browser.driver.refresh()
        browser.cell("1")
        self.assertEqual(self.width("name"), before + 60)

    def test_a_column_is_made_narrower_and_wider_by_keys(self):
        self.open()
        browser = self.browser
        before = self.width("name")
        browser.click(browser.cell("1", "name"))
        browser.keys(Keys.ARROW_UP, (Keys.SHIFT, Keys.ARROW_RIGHT), (Keys.SHIFT, Keys.ARROW_RIGHT))
        browser.wait(lambda: self.width("name") == before + 32, "the column is not wider")
        browser.keys((Keys.SHIFT, Keys.ARROW_LEFT))
        browser.wait(lambda: self.width("name") == before + 16, "the column is not narrower")
        self.assertEqual(browser.focused()[1], "name")

    def test_a_column_keeps_a_least_width(self):
        self.open()
        edge = self.browser.find('[data-column="name"] .column-edge')
        ActionChains(self.browser.driver, duration=0).drag_and_drop_by_offset(edge, -self.width("name"), 0).perform()
        self.browser.wait(lambda: self.width("name") == 56, "the column has another width")

    def width(self, column):
        return self.browser.find(f'[data-column="{column}"]').size["width"]
