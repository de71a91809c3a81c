public import HLSKitTime

/// How item time stands to host time at one moment, and what the player does to audio then.
///
/// Item times are on the item's timeline, host times on the player's ``Player/sourceClock``.
public struct OutputClock: Sendable, Hashable {
    /// The item time of the moment; a time that is not a number is not taken.
    public var itemTime: MediaTime {
        get { MediaTime(time) }
        set { time = newValue.duration ?? time }
    }
    /// The host time of the moment.
    public var hostTime = HostTime.zero
    /// Seconds of the item that pass in one second; 0 while time stands still.
    public var rate = 0.0
    /// Media comes when its time has come, and not as fast as it is taken.
    package var isPaced = true
    /// The factor for samples of audio: the player's volume, 0 while it is muted.
    public var gain: Float = 1
    /// How audio is changed at rates other than 1.
    public var pitchAlgorithm = AudioTimePitchAlgorithm.timeDomain
    /// Counts flushes: media whose clock has a lower number than the last flush is from before it, and should be dropped.
    public var generation = 0
    /// Time runs backwards, and media comes in that order, even while time stands still.
    public var isReverse = false

    /// ``itemTime`` as the player counts: what comes with each sample costs nothing that nobody reads.
    private(set) var time = Duration.zero

    /// Item and host time zero, at rest.
    package init() {}

    package init(itemTime: Duration, hostTime: HostTime, rate: Double, isPaced: Bool, generation: Int) {
        time = itemTime
        self.hostTime = hostTime
        self.rate = rate
        self.isPaced = isPaced
        self.generation = generation
    }

    /// The host time at which the item time is, or was, `time` at the rate of this moment; that of the moment itself
    /// while time stands still or without pacing, and for what is not a number.
    public func hostTime(of time: MediaTime) -> HostTime { time.duration.map { host(of: $0) } ?? hostTime }

    /// The item time at a host time, should the rate stay what it is.
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

    /// Rates, and times to ask about, are any that a program thinks of: what is centuries away, or no number, is not counted
    /// with.
    private static func seconds(_ seconds: Double) -> Duration {
        seconds.isNaN ? .zero : .seconds(min(max(seconds, -1e12), 1e12))
    }
}

/// How audio is changed while time does not pass at its natural speed.
public enum AudioTimePitchAlgorithm: String, Sendable, Hashable, Codable, CaseIterable {
    /// The pitch stays: pieces of the audio are overlapped where they are alike. For speech and music.
    case timeDomain
    /// The pitch rises and falls with the rate, as on a tape. Cheap.
    case varispeed
    /// Silence at every rate but 1.
    case muted
}
