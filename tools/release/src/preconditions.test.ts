import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { requireReleasable } from './preconditions.ts';
import { releaseNotes } from './release-notes.ts';

const changelog =
  '# Changelog\n\n## Unreleased\n\n## 0.8.0\n\n- A change ([scale](docs/scale.md#figures)).\n\n## 0.7.0\n';

/** A repository with one commit. */
function checkout(files: Readonly<Record<string, string>> = {}) {
  const directory = mkdtempDisposableSync(join(tmpdir(), 'metal-release-test-'));
  const git = (...args: string[]) => execFileSync('git', ['-C', directory.path, ...args], { stdio: 'pipe' });
  const all = { 'package.json': '{ "version": "0.8.0" }', 'CHANGELOG.md': changelog, ...files };
  for (const [name, text] of Object.entries(all)) writeFileSync(join(directory.path, name), text);
  git('init', '--quiet');
  git('add', '.');
  git('-c', 'user.name=n', '-c', 'user.email=e', '-c', 'commit.gpgsign=false', 'commit', '--quiet', '--message=m');
  return directory;
}

test('a checkout without changes, of the version and with its notes is released', async () => {
  using repository = checkout();
  await requireReleasable(repository.path, '0.8.0');
});

for (const version of ['', 'v0.8.0', '0.8', '0.08.0', '0.8.0-', '0.8.0-01', '0.8.0+build'])
  test(`a version that is not semantic is refused: "${version}"`, async () => {
    using repository = checkout({ 'package.json': JSON.stringify({ version }) });
    await assert.rejects(requireReleasable(repository.path, version), { code: 'VersionInvalid' });
  });

test('a changed checkout is refused with its changes', async () => {
  using repository = checkout();
  writeFileSync(join(repository.path, 'new.txt'), '');
  await assert.rejects(requireReleasable(repository.path, '0.8.0'), {
    code: 'TreeModified',
    message: 'expected a checkout without changes, found:\n?? new.txt\nCommit, stash or remove them',
  });
});

test('a version that package.json does not have is refused', async () => {
  using repository = checkout({ 'package.json': '{ "version": "0.7.1" }' });
  await assert.rejects(requireReleasable(repository.path, '0.8.0'), {
    code: 'VersionDiffers',
    message: /expected the version 0\.8\.0 in package\.json, found 0\.7\.1\./,
  });
});

for (const [version, message] of [
  ['0.8.1', /no section "## 0\.8\.1"; found: Unreleased, 0\.8\.0, 0\.7\.0\. Rename/],
  ['0.7.0', /the section "## 0\.7\.0" of CHANGELOG\.md is empty/],
] as const)
  test(`a version without notes is refused: ${version}`, async () => {
    using repository = checkout({ 'package.json': JSON.stringify({ version }) });
    await assert.rejects(requireReleasable(repository.path, version), { code: 'NotesMissing', message });
  });

test('the notes are the section of the version, with paths for its relative links', () => {
  assert.equal(releaseNotes(changelog, '0.8.0'), '# metal-operator 0.8.0\n\n- A change (scale (`docs/scale.md`)).\n');
});
