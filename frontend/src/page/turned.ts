// Planes that differ by a turn or a mirror image only mean the same; drawn beside each other, they are turned alike.

export type Spot = readonly [number, number];

/** The points, turned about the origin, and mirrored if that is better, so that they lie nearest to others. */
export function turned(points: readonly Spot[], like: readonly Spot[]): Spot[] {
  const fits = [1, -1].map((mirror) => {
    let [dot, cross] = [0, 0];
    points.forEach(([x, y], k) => {
      const [u, v] = like[k] ?? [0, 0];
      dot += x * u + mirror * y * v;
      cross += x * v - mirror * y * u;
    });
    const size = Math.hypot(dot, cross) || 1;
    return { mirror, size, cos: size === 1 && dot === 0 && cross === 0 ? 1 : dot / size, sin: cross / size };
  });
  const { mirror, cos, sin } = fits[1].size > fits[0].size ? fits[1] : fits[0];
  return points.map(([x, y]) => [cos * x - sin * mirror * y, sin * x + cos * mirror * y]);
}
