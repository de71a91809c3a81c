public import HLSKitTime

/// The relation of item time to host time at a moment, and the player's audio settings at that moment.
///
/// Item times are on the item's timeline, host times on the player's ``Player/sourceClock``.
public struct OutputClock: Sendable, Hashable {
    /// The item time at the moment of the clock.
    ///
    /// Setting a nonnumeric time has no effect.
    public var itemTime: MediaTime {
        get { MediaTime(time) }
        set { time = newValue.duration ?? time }
    }
    /// The host time of the moment.
    public var hostTime = HostTime.zero
    /// The playback rate in item seconds per second, or 0 while time does not advance.
    public var rate = 0.0
    /// Whether media is delivered when it is due, not as fast as outputs accept it.
    package var isPaced = true
    /// The factor for audio samples: the player's volume, or 0 if muted.
    public var gain: Float = 1
    /// The algorithm for audio at rates other than 1.
    public var pitchAlgorithm = AudioTimePitchAlgorithm.timeDomain
    /// The number of flushes so far.
    ///
    /// Drop media whose clock has a lower number than the last flush, because it is from before the flush.
    public var generation = 0
    /// A Boolean value that indicates whether playback is in reverse, even while time does not advance.
    ///
    /// Media then arrives in reverse order.
    public var isReverse = false

    /// The value of ``itemTime`` as a `Duration`, because converting it for each sample would be wasteful.
    private(set) var time = Duration.zero

    package init() {}

    package init(itemTime: Duration, hostTime: HostTime, rate: Double, isPaced: Bool, generation: Int) {
        time = itemTime
        self.hostTime = hostTime
        self.rate = rate
        self.isPaced = isPaced
        self.generation = generation
    }

    /// Returns the host time at which item time is, or was, `time` at the current rate.
    ///
    /// The result is the moment's host time if time does not advance, without pacing, or if `time` is not numeric.
    public func hostTime(of time: MediaTime) -> HostTime { time.duration.map { host(of: $0) } ?? hostTime }

    /// Returns the item time at a host time, if the rate does not change.
    public func itemTime(atHostTime host: HostTime) -> MediaTime {
        let passed = host - hostTime
        if rate == 0 { return itemTime }
        return MediaTime(time + (rate == 1 ? passed : Self.seconds(passed / .seconds(1) * rate)))
    }

    func host(of time: Duration) -> HostTime {
        guard isPaced, rate != 0 else { return hostTime }
        let left = time - self.time
        return hostTime + (rate == 1 ? left : Self.seconds(left / .seconds(1) / rate))
    }

    /// Converts seconds and limits them, because an app may pass any rate and time, including NaN.
    private static func seconds(_ seconds: Double) -> Duration {
        seconds.isNaN ? .zero : .seconds(min(max(seconds, -1e12), 1e12))
    }
}

/// The way in which audio is changed at rates other than 1.
public enum AudioTimePitchAlgorithm: String, Sendable, Hashable, Codable, CaseIterable {
    /// Keeps the pitch by overlapping similar pieces of the audio. For speech and music.
    case timeDomain
    /// Changes the pitch with the rate, like a tape. Uses little CPU time.
    case varispeed
    /// Silences the audio at every rate except 1.
    case muted
}
