import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseImageReference, textOf } from './reference.ts';

const digest = `sha256:${'0a'.repeat(32)}`;

const rows: [string, string | undefined][] = [
  ['ghcr.io/org/os:1.0', 'ghcr.io/org/os:1.0'],
  ['ghcr.io/org/os', 'ghcr.io/org/os:latest'],
  ['GHCR.io/org/os', 'ghcr.io/org/os:latest'],
  [`ghcr.io/org/os@${digest}`, `ghcr.io/org/os@${digest}`],
  [`ghcr.io/org/os:1@${digest}`, `ghcr.io/org/os:1@${digest}`],
  ['localhost:5000/os:1', 'localhost:5000/os:1'],
  ['localhost/os', 'localhost/os:latest'],
  ['registry:5000/os', 'registry:5000/os:latest'],
  ['[::1]:5000/os', '[::1]:5000/os:latest'],
  ['os', 'docker.io/library/os:latest'],
  ['org/os:1', 'docker.io/org/os:1'],
  ['index.docker.io/os', 'docker.io/library/os:latest'],
  ['registry-1.docker.io/org/os', 'docker.io/org/os:latest'],
  ['ghcr.io/a/b__c/d--e.f', 'ghcr.io/a/b__c/d--e.f:latest'],
  ['', undefined],
  ['../os', undefined],
  ['ghcr.io/../os', undefined],
  ['ghcr.io/org/../../v2/_catalog', undefined],
  ['ghcr.io//os', undefined],
  ['ghcr.io/Org/os', undefined],
  ['ghcr.io/org/os:', undefined],
  ['ghcr.io/org/os:a/b', undefined],
  ['ghcr.io/org/os:-1', undefined],
  ['ghcr.io/org/os@sha256:short', undefined],
  [`ghcr.io/org/os@${digest.toUpperCase()}`, undefined],
  [`ghcr.io/org/os@${digest}@${digest}`, undefined],
  ['ftp://host/os/', undefined],
  ['user:password@host/os', undefined],
  ['ghcr.io/org/os?x=y', undefined],
  ['ghcr.io/org/os\n', undefined],
  [`ghcr.io/${'a'.repeat(300)}`, undefined],
];
for (const [text, expected] of rows) {
  test(`the image ${JSON.stringify(text.slice(0, 60))} is ${expected ?? 'no reference'}`, () => {
    const reference = parseImageReference(text);
    assert.equal(reference && textOf(reference), expected);
  });
}
