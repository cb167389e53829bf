import { readFile } from 'node:fs/promises';
import { tool } from '@metal/discovery-image/tool.ts';
import { findButane } from '@metal/project/butane.ts';
import { type Component, part } from './component.ts';

/** The program that translates Butane, with the modules that Go recorded in it. */
export async function butaneComponent(log: (line: string) => void): Promise<Component> {
  const path = await findButane({ environment: process.env, log });
  const modules = modulesIn(await tool('go', ['version', '-m', path]));
  const own = modules.find(({ name }) => name === 'github.com/coreos/butane');
  return {
    type: 'application',
    name: 'butane',
    version: own?.version ?? '',
    ...(own?.purl === undefined ? {} : { purl: own.purl }),
    licenses: ['Apache-2.0'],
    entries: [{ path: 'usr/bin/butane', type: 'file', executable: true, content: await readFile(path) }],
    parts: modules.filter((module) => module !== own),
  };
}

/** @param report Output of `go version -m` */
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
