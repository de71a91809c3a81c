public import HLSKitLoading
public import HLSKitOutput

/// The outputs of an item, which you can add and remove at any time. See <doc:Outputs>.
extension PlayerItem {
    /// Adds an output, also while the item plays.
    ///
    /// Neither status nor timebase changes, and other outputs lose nothing. If the output is the first for its kind of
    /// media, the player loads that media again from the playhead. The output then starts with the current media. If
    /// the player is unpaced, it starts with the next media instead.
    ///
    /// - Throws: ``HLSError/Code/outputInUse`` if the output already belongs to an item.
    public func add(_ output: some PlayerItemOutput) throws(HLSError) {
        guard outputs.add(output) else {
            throw HLSError(code: .outputInUse, urlString: urlString, cause: "the output belongs to an item already")
        }
    }

    /// Removes an output.
    ///
    /// The sequences of the output end, and you can add it to another item. The player stops decoding media that no
    /// longer has an output.
    ///
    /// - Returns: `false` if the item does not have the output.
    @discardableResult
    public func remove(_ output: some PlayerItemOutput) -> Bool {
        outputs.remove(output)
    }

    /// Adds a writer.
    ///
    /// A writer that you add before the item becomes current gets all of its tracks before any samples. A writer that
    /// you add while the item plays gets tracks as they become known, and an updated list with each new track.
    public func add(_ writer: any MediaWriter) {
        outputs.add(writer)
    }

    /// Removes a writer, which gets no more media.
    ///
    /// The method does not finish the writer.
    public func remove(_ writer: any MediaWriter & AnyObject) {
        outputs.remove(writer)
    }

    /// The algorithm that ``AudioOutput``s use when the playback rate is not 1.
    ///
    /// A change takes effect at once. Writers are not affected: files contain the audio of the source. The default
    /// preserves the pitch.
    public var audioTimePitchAlgorithm: AudioTimePitchAlgorithm {
        get { outputs.pitchAlgorithm }
        set { outputs.pitchAlgorithm = newValue }
    }
}
