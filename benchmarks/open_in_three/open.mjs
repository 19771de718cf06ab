// node open.mjs CHROMIUM URL: opens the page headless and prints what its openAll() returns as JSON.
import { chromium } from 'playwright-core';

const [executablePath, url] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath,
  headless: true,
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
});
try {
  const page = await browser.newPage();
  page.on('pageerror', (error) => console.error(String(error)));
  page.on('console', (message) => console.error(message.text()));
  await page.goto(url);
  await page.waitForFunction('window.ready', null, { timeout: 60000 });
  console.log(JSON.stringify(await page.evaluate('window.openAll()')));
} finally {
  await browser.close();
}
