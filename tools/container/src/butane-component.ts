import { readFile } from 'node:fs/promises';
import { tool } from '@metal/discovery-image/tool.ts';
import { findButane } from '@metal/project/butane.ts';
import type { Component } from './component.ts';
import { modulesIn } from './go-modules.ts';

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
