import { type Component, part } from './component.ts';

/**
 * The modules of a Go program. Apart from the program, so that a test of it builds none.
 *
 * @param report Output of `go version -m`
 */
export function modulesIn(report: string): Component[] {
  const go = / (go\d\S*)$/m.exec(report)?.[1];
  const modules = [...report.matchAll(/^\t(?:mod|dep)\t(\S+)\t(v\S+)/gm)].map(([, name = '', version = '']) => ({
    name,
    version,
    purl: `pkg:golang/${name}@${version}`,
    licenses: [],
  }));
  const standardLibrary = go === undefined ? [] : [{ name: 'go', version: go.slice(2), licenses: ['BSD-3-Clause'] }];
  return [...standardLibrary, ...modules].map(part);
}
