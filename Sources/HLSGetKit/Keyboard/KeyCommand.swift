/// The action of a key during playback.
package enum KeyCommand: Sendable, Equatable {
    case togglePause
    case seek(seconds: Int)
    /// Pauses and shows the next (1) or previous (-1) frame.
    case stepFrame(Int)
    /// Sets the start or the end of a range that repeats, or ends the repetition.
    case markLoop
    /// Changes to the next faster (1) or slower (-1) rate.
    case changeRate(Int)
    case playImmediately
    case nextSubtitles
    case nextAudio
    /// Changes to the next higher (1) or lower (-1) variant.
    case changeQuality(Int)
    case skipInterstitial
    case nextStream
    case toggleMute
    /// Louder (1) or quieter (-1).
    case changeVolume(Int)
    case takeScreenshot
    case showHelp
    case quit

    package init?(_ key: Key) {
        switch key {
        case .character(" "), .character("p"): self = .togglePause
        case .left: self = .seek(seconds: -10)
        case .right: self = .seek(seconds: 10)
        case .down: self = .seek(seconds: -60)
        case .up: self = .seek(seconds: 60)
        case .character("."): self = .stepFrame(1)
        case .character(","): self = .stepFrame(-1)
        case .character("l"): self = .markLoop
        case .character("["): self = .changeRate(-1)
        case .character("]"): self = .changeRate(1)
        case .character("i"): self = .playImmediately
        case .character("s"): self = .nextSubtitles
        case .character("a"): self = .nextAudio
        case .character("v"): self = .changeQuality(-1)
        case .character("V"): self = .changeQuality(1)
        case .character("n"): self = .skipInterstitial
        case .character("m"): self = .toggleMute
        case .character("9"): self = .changeVolume(-1)
        case .character("0"): self = .changeVolume(1)
        case .character(">"): self = .nextStream
        case .character("S"): self = .takeScreenshot
        case .character("h"), .character("?"): self = .showHelp
        case .character("q"): self = .quit
        case .character: return nil
        }
    }

    package static let help =
        "keys: space pause, arrows seek 10 s and 60 s, comma and period one frame, l repeat from A to B, [ ] rate, "
        + "i play now, s subtitles, a audio, v V quality, n skip an ad, m mute, 9 0 volume, > next stream, q quit"

    /// The next volume after `volume`, in steps of a twentieth from 0 to 1.
    static func volume(_ step: Int, from volume: Float) -> Float {
        min(max((volume * 20).rounded() + Float(step), 0), 20) / 20
    }

    static let rates: [Float] = [0.5, 0.75, 1, 1.25, 1.5, 2]

    static func rate(_ step: Int, from rate: Float) -> Float {
        let next = step > 0 ? rates.first { $0 > rate + 0.001 } : rates.last { $0 < rate - 0.001 }
        return next ?? rate
    }
}
