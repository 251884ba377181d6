// Drives `page.jsx` in a browser: `browser.mjs BROWSER ADDRESS VERSION SCENARIO…`. Prints what the page shows in each scenario.
import assert from 'node:assert/strict';
import puppeteer from 'puppeteer-core';

const [executablePath, address, version, ...scenarios] = process.argv.slice(2);
const browser = await puppeteer.launch({
  executablePath,
  headless: 'shell',
  args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
});

const open = async id => {
  const page = await browser.newPage();
  page.on('pageerror', error => { console.error(error); });
  await page.goto(`${address}/page/${version}?id=${id}`);
  await page.waitForSelector('main');
  return page;
};
const send = (page, text) => page.evaluate(text => { void window.chat.sendMessage({ text }); }, text);
// Waits until a function of the document is true.
const until = (page, happened, ...values) => page.waitForFunction(happened, { timeout: 60_000, polling: 20 }, ...values);
const says = (page, text) => until(page, text => [...document.querySelectorAll('article.assistant p')].at(-1)?.textContent === text, text);
const ready = page => until(page, () => document.querySelector('main').dataset.status === 'ready');
const shown = page => page.evaluate(() => ({
  status: document.querySelector('main').dataset.status,
  failed: document.querySelector('main').dataset.failed,
  messages: [...document.querySelectorAll('article')].map(message => ({
    id: message.className === 'assistant' ? message.dataset.id : 'user',
    text: message.querySelector('p').textContent,
    calls: [...message.querySelectorAll('.call')].map(call => [call.dataset.state, call.textContent]),
  })),
}));
const release = id => fetch(`${address}/release/${id}`, { method: 'POST' });

const play = {
  // A piece of the answer is shown before the model has written the next one.
  async stream(id) {
    const page = await open(id);
    await send(page, 'slow');
    await says(page, 'one ');
    const { status } = await shown(page);
    await release(id);
    await ready(page);
    return { status, ...await shown(page) };
  },
  // A person clicks: one call is approved, and one is denied.
  async approve(id) {
    return answered(id, 'mail');
  },
  // The same clicks approve and deny calls of a sub-agent.
  async delegate(id) {
    return answered(id, 'delegate');
  },
  // The page is loaded again while the model writes.
  async reload(id) {
    const page = await open(id);
    await send(page, 'slow');
    await says(page, 'one ');
    await page.reload();
    await says(page, 'one ');
    const { status } = await shown(page);
    await release(id);
    await ready(page);
    const first = { status, ...await shown(page) };
    // The next message continues the conversation.
    await send(page, 'hello');
    await says(page, 'Hello.');
    await ready(page);
    return { first, ...await shown(page) };
  },
  // A second tab shows the answer that the first tab has requested. A message from it is refused meanwhile.
  async tabs(id) {
    const [first, second] = [await open(id), await open(id)];
    await send(first, 'slow');
    await says(first, 'one ');
    const stored = await first.evaluate(id => localStorage.getItem(id), id);
    await send(second, 'hello');
    await until(second, () => document.querySelector('main').dataset.failed !== '');
    const refused = (await shown(second)).failed;
    // The refused message is not stored, and the tab loads the stored messages.
    await second.evaluate((id, stored) => localStorage.setItem(id, stored), id, stored);
    await second.reload();
    await says(second, 'one ');
    await release(id);
    await Promise.all([ready(first), ready(second)]);
    return { refused, first: await shown(first), second: await shown(second) };
  },
  // The model withdraws the pieces of a step.
  async flaky(id) {
    const page = await open(id);
    await send(page, 'flaky');
    await until(page, () => ['ready', 'error'].includes(document.querySelector('main').dataset.status)
      && document.querySelectorAll('article.assistant').length > 0);
    return shown(page);
  },
};

const answered = async (id, text) => {
  const page = await open(id);
  await send(page, text);
  await until(page, () => document.querySelectorAll('button.approve').length === 2);
  await ready(page);
  await page.evaluate(() => document.querySelector('button.approve').click());
  await until(page, () => document.querySelectorAll('button.deny').length === 1);
  await page.evaluate(() => document.querySelector('button.deny').click());
  await until(page, () => document.querySelectorAll('button').length === 0);
  await until(page, () => /results$/.test([...document.querySelectorAll('article.assistant p')].at(-1)?.textContent ?? ''));
  await ready(page);
  return shown(page);
};

try {
  const told = {};
  for (const scenario of scenarios) {
    const id = `${scenario}-${version}`;
    try {
      told[scenario] = await play[scenario](id);
    } catch (error) {
      const pages = await browser.pages();
      const texts = await Promise.all(pages.map(page => page.evaluate(() => document.body?.innerHTML ?? '')));
      throw new Error(`${scenario}: ${error}\n${texts.join('\n')}`);
    }
    for (const page of (await browser.pages()).slice(1)) await page.close();
  }
  assert.equal(Object.keys(told).length, scenarios.length);
  console.log(JSON.stringify(told));
} finally {
  await browser.close();
}
