// A curve as sound: the higher the value, the higher the tone.

const SECONDS = 4;

export function hear(values: readonly number[]): void {
  const known = values.filter(Number.isFinite);
  if (known.length < 2) return;
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const audio = new AudioContext();
  const [tone, volume] = [audio.createOscillator(), audio.createGain()];
  const begin = audio.currentTime + 0.05;
  values.forEach((value, k) => {
    const at = begin + (k / (values.length - 1)) * SECONDS;
    const share = Number.isFinite(value) ? (value - low) / (high - low || 1) : 0;
    tone.frequency.setValueAtTime(220 * 4 ** share, at);
    volume.gain.setValueAtTime(Number.isFinite(value) ? 0.15 : 0, at);
  });
  volume.gain.setValueAtTime(0, begin + SECONDS);
  tone.connect(volume).connect(audio.destination);
  tone.start(begin);
  tone.stop(begin + SECONDS);
  tone.onended = () => void audio.close();
}
