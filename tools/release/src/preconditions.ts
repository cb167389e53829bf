import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tool } from '@metal/discovery-image/tool.ts';
import { ReleaseError } from './errors.ts';
import { sectionOf } from './release-notes.ts';

/** Semantic Versioning 2.0.0. Build metadata is left out: tags of images cannot have it. */
const semanticVersion =
  /^(?:(?:0|[1-9]\d*)\.){2}(?:0|[1-9]\d*)(?:-(?:0|[1-9]\d*|\d*[a-z-][\da-z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-z-][\da-z-]*))*)?$/i;
const mostListed = 5;

/** @throws ReleaseError unless the checkout can be released as this version */
export async function requireReleasable(repository: string, version: string): Promise<void> {
  if (!semanticVersion.test(version))
    throw new ReleaseError(
      'VersionInvalid',
      `expected a semantic version such as 0.8.0 or 0.8.0-rc.1, found "${version}": make release VERSION=0.8.0`,
    );
  await requireUnmodified(repository);
  // Written by this project.
  const own = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8')) as { version: string };
  if (own.version !== version)
    throw new ReleaseError(
      'VersionDiffers',
      `expected the version ${version} in package.json, found ${own.version}. Run npm version ${version} --no-git-tag-version and make generate, and commit the changes`,
    );
  sectionOf(await readFile(join(repository, 'CHANGELOG.md'), 'utf8'), version);
}

async function requireUnmodified(repository: string): Promise<void> {
  const changes = (await tool('git', ['-C', repository, 'status', '--porcelain'])).split('\n').filter(Boolean);
  if (changes.length === 0) return;
  const others = changes.length > mostListed ? [`and ${changes.length - mostListed} more`] : [];
  throw new ReleaseError(
    'TreeModified',
    `expected a checkout without changes, found:\n${[...changes.slice(0, mostListed), ...others].join('\n')}\nCommit, stash or remove them`,
  );
}
