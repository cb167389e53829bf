// A lint rule for oxlint: the facts of a controller are read, never written (CONTRIBUTING, "Where things are").

/** @type {(node: any) => boolean} */
const isMember = (node) => node.type === 'MemberExpression';

/** @type {(node: any) => boolean} */
const isFunctionType = ({ type, typeAnnotation }) =>
  type === 'TSMethodSignature' || typeAnnotation?.typeAnnotation?.type === 'TSFunctionType';

const pureFacts = {
  /** @param {any} context */
  create(context) {
    /** @type {(node: any, message: string) => void} */
    const report = (node, message) => context.report({ node, message });
    return {
      /** @param {any} node */
      ExpressionStatement({ expression }) {
        if (/^(?:Call|Await|Unary|New|Chain)Expression$/.test(expression.type))
          report(expression, 'found a call whose result is not used; facts only read: put effects into actions.ts');
      },
      /** @param {any} node */
      AssignmentExpression({ left }) {
        if (isMember(left))
          report(left, 'found a write; facts only read: reduce events into memory before, in memory.ts');
      },
      /** @param {any} node */
      UpdateExpression({ argument }) {
        if (isMember(argument))
          report(argument, 'found a write; facts only read: reduce events into memory, in memory.ts');
      },
      /** @param {any} node */
      TSInterfaceDeclaration({ id, body }) {
        if (!id.name.endsWith('Facts')) return;
        for (const member of body.body.filter(isFunctionType))
          report(member, 'found a function among the facts; a fact is a value, so that the table stays pure');
      },
    };
  },
};

// oxlint-disable-next-line import/no-default-export -- oxlint loads a plugin by its default export
export default { meta: { name: 'metal' }, rules: { 'pure-facts': pureFacts } };
