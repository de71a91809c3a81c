import HLSTime

/// How item time stands to host time at one moment, and what is to be made of sound then.
struct OutputMoment: Sendable {
    var itemTime = Duration.zero
    var hostTime = Duration.zero
    /// Seconds of the item that go by in one; 0 while time stands still.
    var rate = 0.0
    /// Media comes when its time has come, and not as fast as it is taken.
    var isPaced = true
    /// What samples of sound are multiplied by.
    var gain: Float = 1
    var pitchAlgorithm = AudioTimePitchAlgorithm.timeDomain
    /// Counts flushes: media of an earlier count is of before the last one.
    var generation = 0
    /// Media comes in the order of time that runs backwards, also while time stands still.
    var isReverse = false

    /// The host time at which the item time is, or was, `time` at the rate of this moment; that of the moment itself
    /// while time stands still.
    func hostTime(of time: Duration) -> Duration {
        guard isPaced, rate != 0 else { return hostTime }
        return hostTime + (time - itemTime) / rate
    }

    /// The item time at the host time `host`, should the rate stay what it is.
    func itemTime(at host: Duration) -> Duration {
        rate == 0 ? itemTime : itemTime + (host - hostTime) * rate
    }
}

/// How audio is processed while time does not pass at its natural speed.
public enum AudioTimePitchAlgorithm: String, Sendable, Hashable, Codable, CaseIterable {
    /// The pitch stays: pieces of the sound are overlapped where they are alike. For speech and music.
    case timeDomain
    /// The pitch rises and falls with the rate, as on a tape. Cheap.
    case varispeed
    /// Silence at every rate but 1.
    case muted
}
