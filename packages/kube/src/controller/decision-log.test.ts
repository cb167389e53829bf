import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { go, wait } from './decide.ts';
import { DecisionLog } from './decision-log.ts';

const lamp = { apiVersion: 'test.example/v1', kind: 'Lamp', metadata: { name: 'desk' } };

test('a decision about a failure is logged at level warn, any other at info', () => {
  const lines: { level: number; reason: string }[] = [];
  const log = new DecisionLog(pino({}, { write: (line) => void lines.push(JSON.parse(line)) }), []);
  log.log(lamp, 'Bright', go('Broken', 'FuseBlown'), 'Warning');
  log.log(lamp, 'Broken', wait(1, 'FuseBlown'), 'Warning');
  log.log(lamp, 'Broken', wait(1, 'FuseBlown'), 'Warning');
  log.log(lamp, 'Broken', go('Bright', 'FuseReplaced'), 'Normal');
  assert.deepEqual(
    lines.map(({ level, reason }) => `${level} ${reason}`),
    ['40 FuseBlown', '40 FuseBlown', '30 FuseReplaced'],
  );
});
