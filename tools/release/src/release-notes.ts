import { ReleaseError } from './errors.ts';

/** The section of the version, without its heading. @throws ReleaseError NotesMissing */
export function sectionOf(changelog: string, version: string): string {
  const [, ...sections] = changelog.split(/^## /m);
  const found = sections.find((section) => section.split('\n', 1)[0]?.trim() === version);
  const text = found?.slice(found.indexOf('\n')).trim() ?? '';
  if (text !== '') return `${text}\n`;
  const headings = sections.map((section) => section.split('\n', 1)[0]).join(', ');
  throw new ReleaseError(
    'NotesMissing',
    found === undefined
      ? `CHANGELOG.md has no section "## ${version}"; found: ${headings}. Rename "## Unreleased" to "## ${version}" and commit it`
      : `the section "## ${version}" of CHANGELOG.md is empty. Write what operators and tenants can see, and commit it`,
  );
}

/** Notes are read outside of the repository, where relative links lead nowhere. */
export function releaseNotes(changelog: string, version: string): string {
  const text = sectionOf(changelog, version).replaceAll(/\[([^\]]*)\]\((?!https?:)([^)#]*)[^)]*\)/g, '$1 (`$2`)');
  return `# metal-operator ${version}\n\n${text}`;
}
