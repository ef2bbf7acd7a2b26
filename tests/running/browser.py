# SPDX-License-Identifier: GPL-2.0-or-later
"""Headless Chromium with a page of `kadence view`, driven as a person would drive it."""

import json
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains, ScrollOrigin
from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

PATIENCE = 120  # seconds; a page that is not ready by then is broken, not slow

# The window's coordinates of a point of the matrix or of a strip.
LOCATE = """
const [name, x, y] = arguments;
const { plots } = window.kadenceView;
const view = Bokeh.index.get_one(plots.model(name));
const canvas = view.canvas_view.el.getBoundingClientRect();
return [canvas.left + view.frame.x_scale.compute(x), canvas.top + view.frame.y_scale.compute(y)];
"""
SOURCE = """
const { data } = window.kadenceView.plots.model(arguments[0]);
return Object.fromEntries(Object.entries(data).map(([key, column]) => [key, Array.from(column)]));
"""
PICTURE = """
const { data } = window.kadenceView.plots.model("picture");
const [image] = data.image;
const values = Array.from(image, (value) => Number.isNaN(value) ? null : value);
return { shape: image.shape, values, x: data.x[0], y: data.y[0], dw: data.dw[0], dh: data.dh[0] };
"""
AFTER_FRAMES = """
const done = arguments[arguments.length - 1];
requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0)));
"""


class Browser:
    """One window; tests read the complaints and requests of each page that it opened."""

    def __init__(self) -> None:
        options = webdriver.ChromeOptions()
        options.binary_location = _program("chromium")
        for argument in (
            "--headless=new",
            "--no-sandbox",  # root cannot have the sandbox
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--force-device-scale-factor=1",
            "--window-size=1500,1400",
            "--hide-scrollbars",
        ):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(_program("chromedriver")))

    def open(self, url: str) -> None:
        self.driver.get(url)
        self.wait("document.documentElement.dataset.ready !== undefined")

    def run(self, script: str, *arguments: object) -> Any:
        return self.driver.execute_script(script, *arguments)

    def wait(self, condition: str, *arguments: object) -> None:
        """Wait until a condition of the page holds."""
        WebDriverWait(self.driver, PATIENCE).until(
            lambda driver: driver.execute_script(f"return {condition};", *arguments)
        )

    def settle(self) -> None:
        """Wait until the page has drawn what the test asked for."""
        self.driver.execute_async_script(AFTER_FRAMES)

    def source(self, name: str) -> dict[str, list[Any]]:
        """The columns that a glyph draws."""
        columns: dict[str, list[Any]] = self.run(SOURCE, name)
        return columns

    def picture(self) -> dict[str, Any]:
        """The matrix as it is painted; None where nothing is painted."""
        found: dict[str, Any] = self.run(PICTURE)
        return found

    def point(self, name: str, x: float, y: float) -> tuple[int, int]:
        left, top = self.run(LOCATE, name, x, y)
        return round(left), round(top)

    def hover(self, name: str, x: float, y: float) -> None:
        """Move the pointer to a point of a figure, from a point beside it, so that it does move."""
        left, top = self.point(name, x, y)
        builder = ActionBuilder(self.driver)
        builder.pointer_action.move_to_location(left - 1, top)
        builder.pointer_action.move_to_location(left, top)
        builder.perform()
        self.settle()

    def click(self, name: str, x: float, y: float) -> None:
        left, top = self.point(name, x, y)
        builder = ActionBuilder(self.driver)
        builder.pointer_action.move_to_location(left, top)
        builder.pointer_action.click()
        builder.perform()
        # The page shows the cell with a delay, since a second tap would make this a double tap.
        self.wait("document.getElementById('cell').dataset.left !== undefined")

    def scroll(self, name: str, x: float, y: float, by: int) -> None:
        origin = ScrollOrigin.from_viewport(*self.point(name, x, y))
        ActionChains(self.driver).scroll_from_origin(origin, 0, by).perform()
        self.settle()

    def press(self, *keys: str) -> None:
        ActionChains(self.driver).send_keys(*keys).perform()
        self.settle()

    def text(self, identifier: str) -> str:
        return str(self.driver.find_element(By.ID, identifier).text)

    def hint(self) -> list[str]:
        return self.text("hint").splitlines()

    def rows(self, selector: str) -> list[list[str]]:
        """The cells of a table's body."""
        return [
            [cell.text for cell in row.find_elements(By.CSS_SELECTOR, "th, td")]
            for row in self.driver.find_elements(By.CSS_SELECTOR, f"{selector} tbody tr")
        ]

    def prefer(self, **features: str) -> None:
        """Set what the reader's system prefers, or the medium that shows the page."""
        medium = features.pop("medium", "")
        named = [
            {"name": name.replace("_", "-"), "value": value} for name, value in features.items()
        ]
        self.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"media": medium, "features": named}
        )
        self.settle()

    def screenshot(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.driver.save_screenshot(str(path))

    def complaints(self) -> list[str]:
        """The console's warnings and errors since the last call."""
        return [
            entry["message"]
            for entry in self.driver.get_log("browser")
            if entry["level"] in ("WARNING", "SEVERE")
        ]

    def requests(self) -> list[str]:
        """The addresses requested since the last call, without data inside the page."""
        events = [json.loads(entry["message"])["message"] for entry in self._events()]
        urls = [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]
        sockets = [event for event in events if event["method"] == "Network.webSocketCreated"]
        assert not sockets
        return [url for url in urls if urlsplit(url).scheme != "data"]

    def _events(self) -> list[dict[str, Any]]:
        return list(self.driver.get_log("performance"))

    def close(self) -> None:
        self.driver.quit()


def _program(name: str) -> str:
    path = shutil.which(name)
    assert path, f"{name} is missing; run `make test-deps`"
    return path
