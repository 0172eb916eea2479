/** What is wider than its place scrolls sideways, and must be reachable by keyboard then, and only then. */
export function sideways(node: HTMLElement): { destroy(): void } {
  const seen = new ResizeObserver(() => {
    if (node.scrollWidth > node.clientWidth + 1) node.tabIndex = 0;
    else node.removeAttribute("tabindex");
  });
  seen.observe(node);
  return { destroy: () => seen.disconnect() };
}
