import { anchorOf } from '../markdown-text.ts';
import type { SidebarItem } from './navigation.ts';

export interface SiteSettings {
  /** The path under which the site is served. */
  readonly base: string;
  readonly outDir: string;
  readonly sidebar: Readonly<Record<string, readonly SidebarItem[]>>;
  readonly menu: readonly { readonly text: string; readonly link: string }[];
}

/** The part of markdown-it that is changed here. */
interface MarkdownIt {
  readonly renderer: { readonly rules: Record<string, RenderRule | undefined> };
}
type RenderRule = (...args: readonly unknown[]) => string;

/** The configuration of VitePress. Nothing in it refers to another host. */
export const vitepressConfig = ({ base, outDir, sidebar, menu }: SiteSettings) => ({
  title: 'metal-operator',
  description: 'A Kubernetes operator for bare-metal servers over Redfish',
  base,
  outDir,
  srcDir: 'pages',
  // All sidebars in one file, not in each page.
  metaChunk: true,
  // Without it browsers ask for /favicon.ico.
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: {
    anchor: { slugify: anchorOf },
    config: changeRules,
    // Ordinary words such as README.md are domain names too.
    linkify: false,
  },
  themeConfig: {
    nav: menu,
    sidebar,
    outline: { level: [2, 3] },
    search: { provider: 'local' },
  },
});

function changeRules({ renderer: { rules } }: MarkdownIt): void {
  const { text, code_inline: code, fence } = rules;
  // Indented code has no style of its own.
  rules.code_block = fence;
  if (text !== undefined) rules.text = (...args) => literal(text(...args));
  if (code !== undefined) rules.code_inline = (...args) => wrappable(literal(code(...args)));
}

/** Go templates in pages have the delimiters of Vue's templates. */
const literal = (html: string): string => html.replaceAll('{{', '&#123;&#123;');

/** Names such as `spec.bootConfigurationRef` wrap between their words, as columns of tables are narrow. */
export const wrappable = (html: string): string =>
  html.replace(/(?<=>)[^<]+(?=<\/code>)/, (name) => name.replaceAll(/(?<=[a-z])(?=[A-Z])|(?<=[./=])(?=\w)/g, '<wbr>'));
