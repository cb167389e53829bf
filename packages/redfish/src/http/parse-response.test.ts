import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonOf, errorFromResponse } from './parse-response.ts';
import { RedfishError } from '../errors.ts';

const context = { origin: 'https://10.0.0.7:443', method: 'GET', path: '/redfish/v1/' };
const responseOf = (status: number, text: string) => ({ status, headers: {}, text });

test('the error of the JSON parser, with the position, is in the message', () => {
  assert.throws(
    () => jsonOf(responseOf(200, '{"Name": "BM'), context),
    (error) => {
      assert.ok(error instanceof RedfishError);
      assert.match(error.message, /expected JSON, found "\{"Name": "BM"/);
      assert.ok(error.cause instanceof SyntaxError);
      assert.match(error.cause.message, /position 12/);
      return true;
    },
  );
});

test('an excerpt that ends within a surrogate pair is valid text', () => {
  const { message } = errorFromResponse(responseOf(500, `${'x'.repeat(89)}😀 and more`), context, 0);
  assert.ok(message.isWellFormed());
  assert.match(message, /x\uFFFD…$/);
});
