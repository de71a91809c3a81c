import HLSKitEngine
import HLSKitLoading

/// How loud a player is.
extension Player {
    /// The factor for the audio of ``AudioOutput``s, from 0 to 1 (the default, which changes no sample). Values
    /// out of range are clamped; NaN is ignored.
    ///
    /// Changes are heard over some milliseconds, without a click. Writers are not concerned: files hold the level of the
    /// source.
    public var volume: Float {
        get { core.sound.volume }
        set {
            core.sound.volume = newValue
            core.stateChanges.send(())
        }
    }

    /// ``AudioOutput``s give silence, and continue in time. Leaves ``volume`` as it is. Default: false.
    public var isMuted: Bool {
        get { core.sound.isMuted }
        set {
            if newValue != core.sound.isMuted, core.configuration.clientData != nil {
                core.control(.report(newValue ? .muted : .unmuted))
            }
            core.sound.isMuted = newValue
            core.stateChanges.send(())
        }
    }
}
