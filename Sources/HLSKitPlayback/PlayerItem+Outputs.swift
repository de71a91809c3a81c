public import HLSKitLoading
public import HLSKitOutput

/// Outputs, at any time of an item's life.
extension PlayerItem {
    /// Adds an output, also while the item plays: neither status nor timebase changes, and no other output loses anything.
    ///
    /// A kind of media that no one took until now begins with what is presented at the moment: it was loaded and
    /// dropped, and is loaded again from the playhead on. Without pacing it begins with what comes next.
    /// - Throws: ``HLSError/Code/outputInUse`` if the output belongs to an item already.
    public func add(_ output: some PlayerItemOutput) throws(HLSError) {
        guard outputs.add(output) else {
            throw HLSError(code: .outputInUse, urlString: urlString, cause: "the output belongs to an item already")
        }
    }

    /// Takes an output away; its sequences end, and it may be added to another item. Media that no one takes any more
    /// is not decoded any more. False if the item does not have the output.
    @discardableResult
    public func remove(_ output: some PlayerItemOutput) -> Bool {
        outputs.remove(output)
    }

    /// Adds a writer. Writers that are there when the item becomes current get all tracks that they take before
    /// anything is written; one that is added while the item plays gets tracks as they come, and again with each new
    /// one.
    public func add(_ writer: any MediaWriter) {
        outputs.add(writer)
    }

    /// Gives a writer nothing any more. It is not finished by that.
    public func remove(_ writer: any MediaWriter & AnyObject) {
        outputs.remove(writer)
    }

    /// How ``AudioOutput``s sound while time does not pass at its natural speed. Default: the pitch stays.
    ///
    /// Takes effect at once. Writers are not concerned: files hold the audio as its source has it.
    public var audioTimePitchAlgorithm: AudioTimePitchAlgorithm {
        get { outputs.pitchAlgorithm }
        set { outputs.pitchAlgorithm = newValue }
    }
}
