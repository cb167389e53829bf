import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wrappable } from './vitepress-config.ts';

test('a name in code may wrap between its words, and attributes stay as they are', () => {
  assert.equal(
    wrappable('<code class="a.b" v-pre>spec.bmcRef &lt;a.b&gt;</code>'),
    '<code class="a.b" v-pre>spec.<wbr>bmc<wbr>Ref &lt;a.<wbr>b&gt;</code>',
  );
});
