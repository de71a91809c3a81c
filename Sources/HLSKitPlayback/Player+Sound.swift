import HLSKitEngine
import HLSKitLoading

extension Player {
    /// The factor that scales the audio of ``AudioOutput``s, from 0 to 1.
    ///
    /// Values out of range are clamped, and NaN is ignored. A change fades over some milliseconds to avoid a click.
    /// Writers are not affected: files keep the level of the source. The default is 1, which leaves samples unchanged.
    public var volume: Float {
        get { core.audio.volume }
        set {
            core.audio.volume = newValue
            core.stateChanges.send(())
        }
    }

    /// A Boolean value that indicates whether ``AudioOutput``s deliver silence instead of audio.
    ///
    /// Time continues, and ``volume`` does not change. The default is `false`.
    public var isMuted: Bool {
        get { core.audio.isMuted }
        set {
            if newValue != core.audio.isMuted, core.configuration.clientData != nil {
                core.control(.report(newValue ? .muted : .unmuted))
            }
            core.audio.isMuted = newValue
            core.stateChanges.send(())
        }
    }
}
