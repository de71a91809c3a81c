/// How loud a player is.
extension Player {
    /// What the audio of ``AudioOutput``s is multiplied by, from 0 to 1 (the default, which changes no sample). Values
    /// outside are taken for the nearest, a NaN for nothing.
    ///
    /// Changes are heard over some milliseconds, without a click. Writers are not concerned: files hold the level of the
    /// source.
    public var volume: Float {
        get { core.sound.volume }
        set { core.sound.volume = newValue }
    }

    /// ``AudioOutput``s give silence, and continue in time. Leaves ``volume`` as it is. Default: false.
    public var isMuted: Bool {
        get { core.sound.isMuted }
        set { core.sound.isMuted = newValue }
    }
}
